-- SPDX-License-Identifier: Apache-2.0
-- read_write/acquire_write: take a read-write lock for one writer alone, or say how long it is taken (protocol 8.2).
-- KEYS[1] lock   ARGV[1] lease in ms, > 0   ARGV[2] owner   ARGV[3] channel, if listeners are to be counted;
--                ARGV[4] how: SHARDNUMSUB; none: NUMSUB
-- returns    nil: granted; else the remaining time to live in ms, also of its own read hold: no upgrade; with a
--            channel the list 1, that time, how many listen on the channel (-1: not permitted), who has it; an
--            error, WRONGTYPE, if something other than a read-write lock is there
-- publishes  nothing
-- retry      idempotent: the same owner again sets the same field; the lease never adds up, and cuts no hold of its own
-- pairs with Redisson writeLock().lock(), tryLock(), for the owner's first hold; pcall, so that where the expiry is
--            refused nothing without an expiry stays
local key, ttl = KEYS[1], redis.call('PTTL', KEYS[1])
local fresh, field = ttl == -2, ARGV[2] .. ':write'
if not fresh then
  local most = 64
  --@include shared/read_write_form
  if refused then
    return refused
  end
  if not (mode and redis.call('HEXISTS', key, field) == 1) then
    local own, channel, numsub = ARGV[2], ARGV[3], ARGV[4]
    --@include shared/read_write_busy
  end
end
if fresh then
  redis.call('HSET', key, 'mode', 'write', field, 1)
end
local written = tonumber(ARGV[1]) > ttl and redis.pcall('PEXPIRE', key, ARGV[1])
if type(written) == 'table' then
  if fresh and redis.pcall('HDEL', key, 'mode', field) ~= 2 then
    redis.call('DEL', key)
  end
  return written
end
return nil
