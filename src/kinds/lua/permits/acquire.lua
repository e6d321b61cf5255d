-- SPDX-License-Identifier: Apache-2.0
-- permits/acquire: take this many leased permits at once, each with an id, or none (protocol 10.2, transition 1).
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set
--            ARGV[1] lease in ms, > 0; -1: for ever   ARGV[2] channel   ARGV[3] way of shared/tell   ARGV[4] NUMSUB or
--            SHARDNUMSUB, if listeners are to be counted; else empty   ARGV[4+i] the ids, 16 bytes each
-- returns    granted: the list -1, the ids; else how long in ms until the next permit's lease is over, -1 if none's ever is,
--            -2 if there is no semaphore; counted, the list 1, that time, how many listen on the channel (-1: not
--            permitted); if there are fewer than so many in all, the list 1, that time, -1, how many there are in all; an
--            error, WRONGTYPE, if something else is there
-- publishes  how many permits there are now, if permits whose lease was over have left any
-- retry      idempotent: an id that is there already is not taken again, and has its lease again
-- pairs with Redisson acquire(), tryAcquire(). Time is the server's; gives back all that are over, where Redisson gives
--            back as many as it takes. If the semaphore has an end, so have the expiries, but none before the last lease, or ten years;
--            nor do those that have one of a semaphore that was there before
local key, leases = KEYS[1], KEYS[2]
--@include shared/count_form
--@include shared/permits_sweep
if broken then
  return broken
end
local fresh = {}
for i = 5, #ARGV do
  if not redis.call('ZSCORE', leases, ARGV[i]) then
    fresh[#fresh + 1] = ARGV[i]
  end
end
local granted = #fresh == 0 or count and count >= #fresh
if granted then
  local changed = #fresh > 0 and redis.pcall('DECRBY', key, #fresh) or 0
  if type(changed) == 'table' then
    return changed
  end
  local expiry = ARGV[1] == '-1' and '922337203685477' or string.format('%.0f', now + ARGV[1])
  for i = 5, #ARGV do
    local added = redis.pcall('ZADD', leases, expiry, ARGV[i])
    if type(added) == 'table' then
      for j = 1, #fresh do
        redis.pcall('ZREM', leases, fresh[j])
      end
      redis.pcall('INCRBY', key, #fresh)
      return added
    end
  end
  local ttl = redis.call('PTTL', key)
  if ttl > 0 or redis.call('PTTL', leases) > 0 then
    local last = redis.call('ZRANGE', leases, -1, -1, 'WITHSCORES')[2]
    redis.call('PEXPIRE', leases, string.format('%.0f', math.max(ttl, math.min(last - now, 315360000000))))
  end
  count = count and count - #fresh
end
local more, channel, way = swept > 0, ARGV[2], ARGV[3]
--@include shared/permits_tell
if granted then
  return {-1, unpack(ARGV, 5)}
end
local first = count and redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES') or {}
local left = count and -1 or -2
if first[2] and tonumber(first[2]) < 922337203685477 then
  left = math.max(first[2] - now, 1)
end
local all = count and count + redis.call('ZCARD', leases)
if all and all < #ARGV - 4 then
  return {1, left, -1, all}
end
if ARGV[4] == '' then
  return left
end
local listeners = redis.pcall('PUBSUB', ARGV[4], ARGV[2])
return {1, left, listeners[2] or -1}
