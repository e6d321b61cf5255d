-- lock/acquire: take the lock for one owner, or say how long it is taken (protocol 6.1, transition 1).
-- KEYS[1] lock   ARGV[1] lease in ms, > 0   ARGV[2] owner
-- returns    nil: granted; else the remaining time to live in ms, -1 if the key has none
-- publishes  nothing
-- retry      idempotent: the same owner again sets the same field and the lease again
-- pairs with Redisson lock(), tryLock()
local ttl = redis.call('PTTL', KEYS[1])
if ttl ~= -2 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return ttl
end
redis.call('HSET', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return nil
