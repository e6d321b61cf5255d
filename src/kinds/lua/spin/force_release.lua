-- SPDX-License-Identifier: Apache-2.0
-- spin/force_release: take a spin lock from whoever has it, or from one owner (protocol 6.3).
-- KEYS[1] lock   ARGV[1] owner; missing: whoever has it
-- returns    1: it was held, by this owner if one is named; 0: it was not; an error, WRONGTYPE, if something else is
--            there
-- publishes  nothing
-- retry      idempotent
-- pairs with Redisson getSpinLock().forceUnlock(), which deletes whatever is there; what this user may not read stays
local key, from = KEYS[1], ARGV[1]
--@include shared/lock_take
return 1
