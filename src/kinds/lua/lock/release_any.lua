-- SPDX-License-Identifier: Apache-2.0
-- lock/release_any: release whichever of several locks this owner has, and wake a waiter of it: after an acquire_any that
-- is not used, or whose outcome is unknown (protocol 6.1, transition 2, for one of them).
-- KEYS[i] lock   ARGV[1] owner   ARGV[1+i] channel of KEYS[i]   behind them the way of shared/tell, if it is not PUBLISH
-- returns    released: how many clients were notified; nil: none was this owner's
-- publishes  0 on the channel of what was released
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson unlock() on one; pcall, as in release_all
--@include shared/give_back
if refused then
  return refused
end
if released > 0 then
  return heard
end
return nil
