-- SPDX-License-Identifier: Apache-2.0
-- fair/leave: leave a fair lock's queue (protocol 7, transition 3).
-- KEYS[1] lock   KEYS[2] queue   KEYS[3] deadlines   ARGV[1] owner   ARGV[2] turn, in ms, as in its acquire
-- ARGV[3] channel   ARGV[4] the turn of Redisson's waiters   ARGV[5] way of shared/tell, if it is not PUBLISH
-- returns    1: it was in the queue; 0: it was not
-- publishes  0 on the next waiter's channel, if this owner was, and the lock is free
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson's withdrawal from a failed tryLock(), which notifies nobody. A hold of this owner stays.
-- As in fair/acquire, only the first hundred give up the turn of one ahead of them
local key, queue, deadlines, own = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local turn, theirs = tonumber(ARGV[2]), tonumber(ARGV[4])
local place
for i, waiter in ipairs(redis.call('LRANGE', queue, 0, 99)) do
  if waiter == own then
    place = place or i
  elseif place then
    redis.call('ZADD', deadlines, 'XX', 'INCR', -turn, waiter)
  end
end
local removed = redis.call('ZREM', deadlines, own)
if redis.call('LREM', queue, 0, own) == 0 then
  return removed
end
if place == 1 and redis.call('EXISTS', key) == 0 then
  --@include shared/fair_sweep
  --@include shared/fair_due
  local send, base, payload, way = redis.pcall, ARGV[3], '0', ARGV[5]
  --@include shared/fair_tell
end
return 1
