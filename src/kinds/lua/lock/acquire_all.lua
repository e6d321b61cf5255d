-- SPDX-License-Identifier: Apache-2.0
-- lock/acquire_all: take several locks for one owner, all or none (protocol 6.1, transition 1, for each).
-- KEYS[i] lock   ARGV[1] lease in ms, > 0   ARGV[2] owner
-- returns    nil: granted; else a list: the index of a lock that is taken, and its remaining time to live in ms, -1 if
--            it has none. Of several that are taken, one that stays longest. An error, WRONGTYPE, if something else
--            than a lock is at one of them
-- publishes  nothing
-- retry      idempotent: the same owner again sets the same fields and the lease again
-- pairs with Redisson lock(), tryLock() on each; what is no lock is an error before anything is changed; pcall,
--            so that where a write is refused nothing without an expiry stays
local blocker, longest = 0, -2
for i = 1, #KEYS do
  local ttl = redis.call('PTTL', KEYS[i])
  local mine = ttl == -2 or redis.pcall('HEXISTS', KEYS[i], ARGV[2])
  if mine == 0 or type(mine) == 'table' then
    local key = KEYS[i]
    --@include shared/lock_form
    if other then
      return redis.error_reply('WRONGTYPE name ' .. i .. ' of ' .. #KEYS .. ' is ' .. other)
    end
    if mine ~= 0 then
      return mine
    end
    --@include shared/longest_blocker
  end
end
if blocker > 0 then
  return {blocker, longest}
end
for i = 1, #KEYS do
  local written = redis.pcall('HSET', KEYS[i], ARGV[2], 1)
  if type(written) ~= 'table' then
    written = redis.pcall('PEXPIRE', KEYS[i], ARGV[1])
  end
  if type(written) == 'table' then
    for j = 1, i do
      if type(redis.pcall('HDEL', KEYS[j], ARGV[2])) == 'table' then
        redis.call('DEL', KEYS[j])
      end
    end
    return written
  end
end
return nil
