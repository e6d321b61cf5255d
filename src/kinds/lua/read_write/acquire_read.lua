-- SPDX-License-Identifier: Apache-2.0
-- read_write/acquire_read: take a read-write lock for one reader, beside other readers, or say how long it is taken
-- (protocol 8.1).
-- KEYS[1] lock   KEYS[2] the reader's hold: a key that lives for as long as its lease; none: it was set before, since it
--            is at another server while the slot moves
-- ARGV[1] lease in ms, > 0   ARGV[2] owner   ARGV[3] channel, if listeners are to be counted;
-- ARGV[4] how: SHARDNUMSUB; none: NUMSUB
-- returns    nil: granted; beside others, with a channel, the list -2, how many listen on it (0: not permitted); else
--            the remaining time to live in ms; with a channel the list 1, that time, how many listen on the channel (-1:
--            not permitted), who has it; an error, WRONGTYPE, if something other than a read-write lock is there
-- publishes  nothing
-- retry      idempotent: the same owner again sets the same hold and its lease again; it has one, whatever is repeated
-- pairs with Redisson readLock().lock(), tryLock(), for the owner's first hold. A writer may read as well, and nobody's
--            lease is cut: the lock lives as long as the longest hold. pcall, so that where a write is refused nothing
--            stays that has no end
local key, ttl = KEYS[1], redis.call('PTTL', KEYS[1])
local fresh = ttl == -2
if not fresh then
  local most = 64
  --@include shared/read_write_form
  if refused then
    return refused
  end
  local may = mode == 'read' or mode and redis.call('HEXISTS', key, ARGV[2] .. ':write') == 1
  if not may then
    local own, channel, numsub = ARGV[2], ARGV[3], ARGV[4]
    --@include shared/read_write_busy
  end
end
local written = KEYS[2] and redis.pcall('SET', KEYS[2], 1, 'PX', ARGV[1])
if written and written.err then
  return written
end
if fresh then
  written = redis.pcall('HSET', key, 'mode', 'read', ARGV[2], 1)
else
  written = redis.pcall('HSET', key, ARGV[2], 1)
end
if type(written) ~= 'table' and tonumber(ARGV[1]) > ttl then
  written = redis.pcall('PEXPIRE', key, ARGV[1])
end
if type(written) == 'table' then
  if KEYS[2] then
    redis.pcall('DEL', KEYS[2])
  end
  local taken_back = redis.pcall('HDEL', key, ARGV[2], fresh and 'mode' or ARGV[2])
  if fresh and type(taken_back) == 'table' then
    redis.call('DEL', key)
  end
  return written
end
if fresh or not ARGV[3] then
  return nil
end
return {-2, redis.pcall('PUBSUB', ARGV[4] or 'NUMSUB', ARGV[3])[2] or 0}
