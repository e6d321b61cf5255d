-- SPDX-License-Identifier: Apache-2.0
-- semaphore/add: add permits, or remove them; creates a missing semaphore (protocol 10.1,
-- transitions 2 and 8).
-- KEYS[1] semaphore   KEYS[2] under which it is remembered; none: it is not
--            ARGV[1] permits, or below 0   ARGV[2] how long it is remembered, in ms   ARGV[3] channel   ARGV[4] way of
--            shared/tell, if it is not PUBLISH
-- returns    how many there are now, perhaps below 0; an error, WRONGTYPE, if something else is there
-- publishes  that, if it is above 0
-- retry      with KEYS[2] idempotent as long as it is remembered
-- pairs with Redisson release(), addPermits(); the time to live stays
local key, once, remembered = KEYS[1], KEYS[2], ARGV[2]
--@include shared/once_before
--@include shared/count_form
count = (count or 0) + ARGV[1]
local more, channel, way = true, ARGV[3], ARGV[4]
--@include shared/permits_tell
local said, gives = string.format('%.0f', count), true
--@include shared/once_keep
local changed = redis.pcall('INCRBY', key, ARGV[1])
--@include shared/once_drop
return count
