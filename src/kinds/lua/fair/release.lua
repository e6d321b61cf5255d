-- SPDX-License-Identifier: Apache-2.0
-- fair/release: release a fair lock if this owner has it, and wake the next waiter (protocol 7, transition 4).
-- KEYS[1] lock   KEYS[2] queue   KEYS[3] deadlines; without them, which are at another server while the slot moves, it
-- notifies nobody   ARGV[1] owner   ARGV[2] channel   ARGV[3] turn: how long in ms the next waiter may leave the lock
-- free   ARGV[4] the same of Redisson's waiters   ARGV[5] way of shared/tell, if it is not PUBLISH
-- returns    released: how many clients were notified; nil: this owner does not have it
-- publishes  0 on the next waiter's channel, when released; if no client receives it, on that of the one behind too
-- also takes the lock from an owner by force, but not from a later one
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson getFairLock().unlock(). The lock is given back whatever the queue is
local queue, deadlines, turn, theirs = KEYS[2], KEYS[3], tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return nil
end
if not queue then
  return 0
end
--@include shared/fair_sweep
--@include shared/fair_due
local send, base, payload, way = redis.call, ARGV[2], '0', ARGV[5]
--@include shared/fair_tell
return heard
