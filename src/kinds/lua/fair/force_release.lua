-- SPDX-License-Identifier: Apache-2.0
-- fair/force_release: take a fair lock from whoever has it, or from one owner, and wake the next waiter (protocol 7,
-- transition 5).
-- KEYS[1] lock   KEYS[2] queue   KEYS[3] deadlines; without them, which are at another server while the slot moves, it
-- notifies nobody   ARGV[1] channel   ARGV[2] way of shared/tell   ARGV[3] owner; missing: whoever has it
-- returns    1: it was held, by this owner if one is named; 0: it was not; an error, WRONGTYPE, if something else is there
-- publishes  0 on the next waiter's channel, when it was held; if no client receives it, on that of the one behind too
-- retry      idempotent
-- pairs with Redisson forceUnlock(); the queue stays
local key, queue, deadlines, from = KEYS[1], KEYS[2], KEYS[3], ARGV[3]
--@include shared/lock_take
if not queue then
  return 1
end
--@include shared/fair_sweep
local send, base, payload, way = redis.pcall, ARGV[1], '0', ARGV[2]
--@include shared/fair_tell
return 1
