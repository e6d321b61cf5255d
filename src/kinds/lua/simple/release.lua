-- SPDX-License-Identifier: Apache-2.0
-- simple/release: release a lock of the SET NX PX family if this owner has it, and wake Holdfast's waiters.
-- KEYS[1] lock   ARGV[1] owner   ARGV[2] channel   ARGV[3] way of shared/tell, if it is not PUBLISH
-- returns    released: how many clients were notified (0 if this user may not publish); nil: this owner does not have it
-- publishes  0 on the channel, when released; a user who may not publish releases all the same
-- also takes the lock from an owner by force, but not from a later one
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with the compare-and-delete of every client of this family; the channel is Holdfast's own
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return nil
end
redis.call('DEL', KEYS[1])
local send, channel, payload, way = redis.pcall, ARGV[2], '0', ARGV[3]
--@include shared/tell
return type(told) == 'number' and told or 0
