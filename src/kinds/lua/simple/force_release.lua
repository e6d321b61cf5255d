-- SPDX-License-Identifier: Apache-2.0
-- simple/force_release: take a lock of the SET NX PX family from whoever has it, or from one owner, and wake Holdfast's
-- waiters.
-- KEYS[1] lock   ARGV[1] channel   ARGV[2] way of shared/tell   ARGV[3] owner; missing: whoever has it
-- returns    1: it was held, by this owner if one is named; 0: it was not; an error, WRONGTYPE, if no owner is named and
--            the string, which may be anything, has no expiry
-- publishes  0 on the channel, when it was held; a user who may not publish releases all the same
-- retry      idempotent
-- pairs with DEL; GET first, so that a key of another type is an error and stays
local value = redis.call('GET', KEYS[1])
if not value or (ARGV[3] and ARGV[3] ~= value) then
  return 0
end
if not ARGV[3] and redis.call('PTTL', KEYS[1]) == -1 then
  return redis.error_reply('WRONGTYPE it is a string without an expiry, perhaps no lock: name the owner that it must have')
end
redis.call('DEL', KEYS[1])
local send, channel, payload, way = redis.pcall, ARGV[1], '0', ARGV[2]
--@include shared/tell
return 1
