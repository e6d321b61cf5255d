-- SPDX-License-Identifier: Apache-2.0
-- latch/count_down: make this many steps towards opening a latch (protocol 11).
-- KEYS[1] latch   KEYS[2] under which it is remembered; none: it is not
--            ARGV[1] steps, > 0   ARGV[2] how long it is remembered, in ms   ARGV[3] channel   ARGV[4] way of
--            shared/tell, if it is not PUBLISH
-- returns    how many are left; 0: it is open; an error, WRONGTYPE, if something else is there
-- publishes  0: it is open, if these were the last
-- retry      with KEYS[2] idempotent as long as it is remembered, also if there was no latch: the next one of this name
--            is not counted down by it
-- pairs with Redisson countDown(), once for each step; there is no latch below 0
local key, once, remembered = KEYS[1], KEYS[2], ARGV[2]
--@include shared/once_before
--@include shared/count_form
local left = math.max((count or 0) - ARGV[1], 0)
local said, gives = string.format('%.0f', left), true
--@include shared/once_keep
local changed
if left > 0 then
  changed = redis.pcall('DECRBY', key, ARGV[1])
else
  changed = redis.pcall('DEL', key)
end
--@include shared/once_drop
if left == 0 and count and count > 0 then
  local send, channel, payload, way = redis.pcall, ARGV[3], '0', ARGV[4]
  --@include shared/tell
end
return left
