-- SPDX-License-Identifier: Apache-2.0
-- lock/release: release the lock if this owner has it, and wake a waiter (protocol 6.1, transition 2).
-- KEYS[1] lock   ARGV[1] owner   ARGV[2] channel   ARGV[3] way of shared/tell, if it is not PUBLISH
-- returns    released: how many clients were notified; nil: this owner does not have it
-- publishes  0 on the channel, when released
-- also takes the lock from an owner by force, but not from a later one
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson unlock(); no unlock latch is needed, since an owner is used for one acquisition only
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return nil
end
local send, channel, payload, way = redis.call, ARGV[2], '0', ARGV[3]
--@include shared/tell
return told
