-- SPDX-License-Identifier: Apache-2.0
-- permits/add: add leased permits, or remove them; makes a missing semaphore (protocol 10.2, transition 9).
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set   KEYS[3] under which it is remembered; none: it is not
--            ARGV[1] permits, or below 0   ARGV[2] how long it is remembered, in ms   ARGV[3] channel   ARGV[4] way of
--            shared/tell
-- returns    how many can be taken now, perhaps below 0; an error, WRONGTYPE, if something else is there
-- publishes  that, if it is above 0
-- retry      with KEYS[3] idempotent as long as it is remembered
-- pairs with Redisson addPermits(); the time to live stays. To a semaphore that was removed permits that are still held
--            count, so what it is made with are those that are added, less those
local key, leases, once, remembered = KEYS[1], KEYS[2], KEYS[3], ARGV[2]
--@include shared/once_before
--@include shared/count_form
--@include shared/permits_sweep
if broken then
  return broken
end
local change = count and ARGV[1] or ARGV[1] - redis.call('ZCARD', leases)
count = (count or 0) + change
local said, gives = string.format('%.0f', count), true
--@include shared/once_keep
local changed = redis.pcall('INCRBY', key, string.format('%.0f', change))
--@include shared/once_drop
local more, channel, way = true, ARGV[3], ARGV[4]
--@include shared/permits_tell
return count
