-- SPDX-License-Identifier: Apache-2.0
-- lock/force_release: take the lock from whoever has it, or from one owner, and wake a waiter (protocol 6.1,
-- transition 3).
-- KEYS[1] lock   ARGV[1] channel   ARGV[2] way of shared/tell   ARGV[3] owner; missing: whoever has it
-- returns    1: it was held, by this owner if one is named; 0: it was not; an error, WRONGTYPE, if something else is
--            there
-- publishes  0 on the channel, when it was held
-- retry      idempotent
-- pairs with Redisson forceUnlock(), which deletes whatever is there; what this user may not read stays
local key, from = KEYS[1], ARGV[3]
--@include shared/lock_take
local send, channel, payload, way = redis.pcall, ARGV[1], '0', ARGV[2]
--@include shared/tell
return 1
