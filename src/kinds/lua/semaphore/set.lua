-- SPDX-License-Identifier: Apache-2.0
-- semaphore/set: make a semaphore of this many permits, unless there is one (protocol 10.1, transitions 6 and 7).
-- KEYS[1] semaphore   KEYS[2] under which it is remembered; none: it is not
--            ARGV[1] permits   ARGV[2] how long it is remembered, in ms   ARGV[3] time to live in ms; 0: none
--            ARGV[4] channel   ARGV[5] way of shared/tell, if it is not PUBLISH
-- returns    1: made; 0: there is one; an error, WRONGTYPE, if something else is there
-- publishes  how many permits there are, if made with any
-- retry      with KEYS[2] idempotent as long as it is remembered
-- pairs with Redisson trySetPermits()
local key, once, remembered = KEYS[1], KEYS[2], ARGV[2]
--@include shared/once_before
--@include shared/count_form
if count then
  return 0
end
local said, gives = 1, false
--@include shared/once_keep
local changed
if ARGV[3] == '0' then
  changed = redis.pcall('SET', key, ARGV[1])
else
  changed = redis.pcall('SET', key, ARGV[1], 'PX', ARGV[3])
end
--@include shared/once_drop
count = tonumber(ARGV[1])
local more, channel, way = true, ARGV[4], ARGV[5]
--@include shared/permits_tell
return 1
