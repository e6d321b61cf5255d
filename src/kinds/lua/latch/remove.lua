-- latch/remove: remove a latch, or a semaphore (protocol 11, 10.1).
-- KEYS[1] latch or semaphore   KEYS[2] under which it is remembered; none: it is not
--            ARGV[1] how long it is remembered, in ms   ARGV[2] channel   ARGV[3] way of shared/tell, if it is not
--            PUBLISH
-- returns    1: it was there; 0: it was not; an error, WRONGTYPE, if something else is there
-- publishes  1, if it was there: a latch has not opened, so this wakes nobody; who waits for permits asks, and learns that
--            there is no semaphore
-- retry      with KEYS[2] idempotent as long as it is remembered: the next one of this name is not removed by it
-- pairs with Redisson delete()
local key, once, remembered = KEYS[1], KEYS[2], ARGV[1]
--@include shared/once_before
--@include shared/count_form
if not count then
  return 0
end
local said, gives = 1, true
--@include shared/once_keep
local changed = redis.pcall('DEL', key)
--@include shared/once_drop
local send, channel, payload, way = redis.pcall, ARGV[2], '1', ARGV[3]
--@include shared/tell
return 1
