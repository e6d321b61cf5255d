-- SPDX-License-Identifier: Apache-2.0
-- semaphore/drain: take all permits that there are (protocol 10.1, transition 5).
-- KEYS[1] semaphore   KEYS[2] under which it is remembered; none: it is not
--            ARGV[1] how long it is remembered, in ms
-- returns    how many there were, perhaps below 0; 0 as well if there is no semaphore; an error, WRONGTYPE, if something
--            else is there
-- publishes  nothing
-- retry      with KEYS[2] idempotent as long as it is remembered; to take none is not
-- pairs with Redisson drainPermits(); the time to live stays
local key, once, remembered = KEYS[1], KEYS[2], ARGV[1]
--@include shared/once_before
--@include shared/count_form
if not count or count == 0 then
  return 0
end
local said, gives = string.format('%.0f', count), false
--@include shared/once_keep
local changed = redis.pcall('DECRBY', key, said)
--@include shared/once_drop
return count
