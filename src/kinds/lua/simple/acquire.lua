-- SPDX-License-Identifier: Apache-2.0
-- simple/acquire: take a lock of the SET NX PX family for one owner, or say how long it is taken.
-- KEYS[1] lock   ARGV[1] lease in ms, > 0   ARGV[2] owner
-- returns    nil: granted; else the remaining time to live in ms, -1 if the key has none
-- publishes  nothing
-- retry      idempotent: the same owner again sets the same value and the lease again
-- pairs with SET key value NX PX lease, as every client of this family sends it
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[2] then
  return redis.call('PTTL', KEYS[1])
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return nil
