-- SPDX-License-Identifier: Apache-2.0
-- permits/set: make a leased semaphore of this many permits, unless there is one (protocol 10.2, transition 7).
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set   KEYS[3] under which it is remembered; none: it is not
--            ARGV[1] permits   ARGV[2] how long it is remembered, in ms   ARGV[3] channel   ARGV[4] way of shared/tell
--            ARGV[5] time to live in ms, if it has one: of one that is made, or has an earlier end
-- returns    1: made; 0: there is one; an error, WRONGTYPE, if something else is there
-- publishes  how many permits can be taken, if made with any, or if permits whose lease was over have left any
-- retry      with KEYS[3] idempotent as long as it is remembered
-- pairs with Redisson trySetPermits(), which gives what is held to others as well: permits that are still held, of a
--            semaphore that was removed, count
local key, leases, once, remembered = KEYS[1], KEYS[2], KEYS[3], ARGV[2]
--@include shared/once_before
--@include shared/count_form
--@include shared/permits_sweep
if broken then
  return broken
end
local made = not count
if made then
  count = ARGV[1] - redis.call('ZCARD', leases)
  local said, gives = 1, false
  --@include shared/once_keep
  local changed = redis.pcall('SET', key, string.format('%.0f', count), unpack(ARGV[5] and {'PX', ARGV[5]} or {}))
  --@include shared/once_drop
elseif ARGV[5] then
  --@include shared/permits_life
end
local more, channel, way = made or swept > 0, ARGV[3], ARGV[4]
--@include shared/permits_tell
return made and 1 or 0
