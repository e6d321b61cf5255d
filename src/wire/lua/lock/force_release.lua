-- lock/force_release: take the lock from whoever has it, and wake a waiter (protocol 6.1, transition 3).
-- KEYS[1] lock   ARGV[1] channel   ARGV[2] way of shared/tell, if it is not PUBLISH
-- returns    1: it was held; 0: it was free
-- publishes  0 on the channel, when it was held
-- retry      idempotent
-- pairs with Redisson forceUnlock(); HLEN first, so that a key of another type is an error and stays
if redis.call('HLEN', KEYS[1]) == 0 then
  return 0
end
redis.call('DEL', KEYS[1])
local send, channel, way = redis.call, ARGV[1], ARGV[2]
--@include shared/tell
return 1
