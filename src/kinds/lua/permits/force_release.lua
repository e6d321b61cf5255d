-- SPDX-License-Identifier: Apache-2.0
-- permits/force_release: take permits away: those with these ids, or all.
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set
--            ARGV[1] channel   ARGV[2] way of shared/tell   ARGV[2+i] the ids; missing: all
-- returns    1: there were some; 0: there were none; an error, WRONGTYPE, if something else is there
-- publishes  how many permits there are now, if there are more than before, and any
-- retry      idempotent
-- pairs with Redisson tryRelease()
local key, leases = KEYS[1], KEYS[2]
--@include shared/count_form
local before = redis.pcall('ZCARD', leases)
--@include shared/permits_sweep
local taken = 0
-- Whatever is empty by now is not read: while its slot moves, the server takes it for a key that has gone elsewhere.
while not broken and taken < before - swept do
  local back = {}
  if #ARGV == 2 then
    back = redis.call('ZRANGE', leases, 0, 999)
  end
  for i = 3, #ARGV do
    if redis.call('ZSCORE', leases, ARGV[i]) then
      back[#back + 1] = ARGV[i]
    end
  end
  if #back == 0 then
    break
  end
  --@include shared/permits_back
  taken = taken + given
  if #ARGV > 2 then
    break
  end
end
if broken then
  return broken
end
local more, channel, way = swept + taken > 0, ARGV[1], ARGV[2]
--@include shared/permits_tell
return taken > 0 and 1 or 0
