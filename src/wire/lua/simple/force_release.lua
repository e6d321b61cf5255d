-- simple/force_release: take a lock of the SET NX PX family from whoever has it, and wake Holdfast's waiters.
-- KEYS[1] lock   ARGV[1] channel   ARGV[2] way of shared/tell, if it is not PUBLISH
-- returns    1: it was held; 0: it was free
-- publishes  0 on the channel, when it was held; a user who may not publish releases all the same
-- retry      idempotent
-- pairs with DEL; GET first, so that a key of another type is an error and stays
if not redis.call('GET', KEYS[1]) then
  return 0
end
redis.call('DEL', KEYS[1])
local send, channel, way = redis.pcall, ARGV[1], ARGV[2]
--@include shared/tell
return 1
