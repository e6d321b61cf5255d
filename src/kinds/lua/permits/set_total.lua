-- SPDX-License-Identifier: Apache-2.0
-- permits/set_total: set the total permits of a leased semaphore, including those that are held (protocol 10.2,
-- transition 8).
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set   KEYS[3] under which it is remembered; none: it is not
--            ARGV[1] permits   ARGV[2] how long it is remembered, in ms   ARGV[3] channel   ARGV[4] way of shared/tell
--            ARGV[5] time to live in ms, if it has one: of one that is made, or has an earlier end
-- returns    how many can be taken now; below 0 if more are held than that; an error, WRONGTYPE, if something
--            else is there
-- publishes  that, if there are more than before, and any
-- retry      with KEYS[3] idempotent as long as it is remembered: it does not undo what others have changed since. What
--            changed nothing is not remembered
-- pairs with Redisson setPermits(); without ARGV[5] the time to live stays. Permits that are still held, of a semaphore
--            that was removed, count
local key, leases, once, remembered = KEYS[1], KEYS[2], KEYS[3], ARGV[2]
--@include shared/once_before
--@include shared/count_form
--@include shared/permits_sweep
if broken then
  return broken
end
local before = count
count = ARGV[1] - redis.call('ZCARD', leases)
if count ~= before then
  local said, gives = string.format('%.0f', count), false
  --@include shared/once_keep
  local changed
  if before then
    changed = redis.pcall('INCRBY', key, string.format('%.0f', count - before))
  else
    changed = redis.pcall('SET', key, said, unpack(ARGV[5] and {'PX', ARGV[5]} or {}))
  end
  --@include shared/once_drop
end
if before and ARGV[5] then
  --@include shared/permits_life
end
local more, channel, way = swept > 0 or count > (before or 0), ARGV[3], ARGV[4]
--@include shared/permits_tell
return count
