-- lock/renew: extend many holds at once, each only if its owner still has it (protocol 5 and 6.1, transition 4).
-- KEYS[i] lock   ARGV[2i-1] owner of KEYS[i]   ARGV[2i] lease in ms, > 0
-- returns    a list, for each lock: 1 extended; 0 not this owner's any more (gone, taken, or not a lock)
-- publishes  nothing
-- retry      idempotent
-- pairs with Redisson's watchdog; pcall, so that a key of another type does not stop the others' renewal
local replies = {}
for i = 1, #KEYS do
  replies[i] = 0
  if redis.pcall('HEXISTS', KEYS[i], ARGV[2 * i - 1]) == 1 then
    redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
    replies[i] = 1
  end
end
return replies
