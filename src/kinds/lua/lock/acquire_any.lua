-- SPDX-License-Identifier: Apache-2.0
-- lock/acquire_any: take the first of several locks that is free, for one owner, or say when one may be (protocol 6.1,
-- transition 1, for one of them).
-- KEYS[i] lock   ARGV[1] lease in ms, > 0   ARGV[2] owner   ARGV[3] channel of the first, if listeners are to be counted;
--            ARGV[4] how: SHARDNUMSUB; none: NUMSUB
-- returns    granted: the list -1, the index of the lock; else a list: the index of a lock that is taken, and its
--            remaining time to live in ms, -1 if it has none: of all that are taken, one that ends soonest; with a
--            channel how many listen on it (-1: not permitted). An error, WRONGTYPE, if something other than a lock is
--            at one of them
-- publishes  nothing
-- retry      idempotent: an owner that already has one gets only its lease set again
-- pairs with Redisson lock(), tryLock() on one; pcall, so that where the expiry is refused nothing without an expiry stays
local own, free, blocker, soonest
for i = 1, #KEYS do
  local ttl = redis.call('PTTL', KEYS[i])
  if ttl == -2 then
    free = free or i
  else
    local mine = redis.pcall('HEXISTS', KEYS[i], ARGV[2])
    if mine == 1 then
      own = own or i
    else
      local key = KEYS[i]
      --@include shared/lock_form
      if other then
        return redis.error_reply('WRONGTYPE name ' .. i .. ' of ' .. #KEYS .. ' is ' .. other)
      end
      if mine ~= 0 then
        return mine
      end
      if not blocker or ttl >= 0 and (soonest < 0 or ttl < soonest) then
        blocker, soonest = i, ttl
      end
    end
  end
end
local taken = own or free
if not taken then
  return {blocker, soonest, ARGV[3] and (redis.pcall('PUBSUB', ARGV[4] or 'NUMSUB', ARGV[3])[2] or -1)}
end
redis.call('HSET', KEYS[taken], ARGV[2], 1)
local expiry = redis.pcall('PEXPIRE', KEYS[taken], ARGV[1])
if type(expiry) == 'table' then
  if redis.pcall('HDEL', KEYS[taken], ARGV[2]) ~= 1 then
    redis.call('DEL', KEYS[taken])
  end
  return expiry
end
return {-1, taken}
