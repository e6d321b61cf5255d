-- SPDX-License-Identifier: Apache-2.0
-- spin/release: release a spin lock if this owner has it (protocol 6.3).
-- KEYS[1] lock   ARGV[1] owner
-- returns    0: released, without a message; nil: this owner does not have it
-- publishes  nothing
-- also takes the lock from an owner by force, but not from a later one
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson getSpinLock().unlock(); no unlock latch is needed, since an owner is used for one acquisition only
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return nil
end
return 0
