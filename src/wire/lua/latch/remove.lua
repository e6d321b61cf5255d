-- latch/remove: remove a latch (protocol 11).
-- KEYS[1] latch   ARGV[1] channel   ARGV[2] way of shared/tell, if it is not PUBLISH
-- returns    1: it was there; 0: it was not; an error, WRONGTYPE, if something else is there
-- publishes  1, if it was there, which wakes no waiter: it has not opened
-- retry      idempotent
-- pairs with Redisson delete()
local key = KEYS[1]
--@include shared/count_form
if not count then
  return 0
end
redis.call('DEL', key)
local send, channel, payload, way = redis.pcall, ARGV[1], '1', ARGV[2]
--@include shared/tell
return 1
