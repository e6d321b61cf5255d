-- SPDX-License-Identifier: Apache-2.0
-- latch/set: make a latch that opens after this many steps, unless there is one (protocol 11).
-- KEYS[1] latch   KEYS[2] under which it is remembered; none: it is not
--            ARGV[1] count, > 0   ARGV[2] how long it is remembered, in ms   ARGV[3] channel   ARGV[4] way of
--            shared/tell, if it is not PUBLISH
-- returns    1: made; 0: there is one; an error if the count is not above 0: waiters would never be notified, and
--            it would block the next one; an error, WRONGTYPE, if something else is there
-- publishes  1: it is closed
-- retry      with KEYS[2] idempotent as long as it is remembered
-- pairs with Redisson trySetCount()
local key, once, remembered = KEYS[1], KEYS[2], ARGV[2]
if tonumber(ARGV[1]) < 1 then
  return redis.error_reply('ERR a latch counts down from 1 at least')
end
--@include shared/once_before
--@include shared/count_form
if count then
  return 0
end
local said, gives = 1, false
--@include shared/once_keep
local changed = redis.pcall('SET', key, ARGV[1])
--@include shared/once_drop
local send, channel, payload, way = redis.pcall, ARGV[3], '1', ARGV[4]
--@include shared/tell
return 1
