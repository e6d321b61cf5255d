-- SPDX-License-Identifier: Apache-2.0
-- lock/release_all: release those of several locks that this owner has, and wake a waiter of each (protocol 6.1,
-- transition 2, for each).
-- KEYS[i] lock   ARGV[1] owner   ARGV[1+i] channel of KEYS[i]   behind them the way of shared/tell, if it is not PUBLISH
-- returns    all released: how many clients were notified; nil: at least one was not this owner's
-- publishes  0 on the channel of each that was released
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson unlock() on each; pcall, so that one key of another type, or one message that is refused, does not
--            keep the others; refused writes say nothing about the owner, and are an error
--@include shared/give_back
if refused then
  return refused
end
if released == #KEYS then
  return heard
end
return nil
