-- SPDX-License-Identifier: Apache-2.0
-- lock/look: who has the lock (protocol 6.1).
-- KEYS[1] lock   ARGV[] none
-- returns    nil: it is free; else a list: the owner and its count, also if it has no expiry; an error, WRONGTYPE, if
--            something else is there
-- publishes  nothing
-- retry      changes nothing
-- pairs with HGETALL, which cannot recognise things that are not locks
local key, ttl = KEYS[1]
if redis.call('PTTL', key) == -2 then
  return nil
end
--@include shared/lock_form
if other then
  return redis.error_reply('WRONGTYPE it is ' .. other)
end
return held or refused
