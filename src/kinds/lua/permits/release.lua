-- SPDX-License-Identifier: Apache-2.0
-- permits/release: give back the permits that have these ids (protocol 10.2, transitions 2 and 3).
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set
--            ARGV[1] channel   ARGV[2] way of shared/tell   ARGV[2+i] the ids
-- returns    all of them given back: how many clients were notified; nil: at least one was gone: its lease was
--            over, or it was given back before; an error, WRONGTYPE, if something else is there
-- publishes  how many permits there are now, if there are more than before, and any
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson release(), tryRelease(). Of several Redisson gives back all or none; what is left of them would only
--            wait for the end of its lease
local key, leases = KEYS[1], KEYS[2]
--@include shared/count_form
--@include shared/permits_sweep
local back, returned = {}, 0
if not broken then
  for i = 3, #ARGV do
    if redis.call('ZSCORE', leases, ARGV[i]) then
      back[#back + 1] = ARGV[i]
    end
  end
  if #back > 0 then
    --@include shared/permits_back
    returned = given
  end
end
if broken then
  return broken
end
local more, channel, way = swept + returned > 0, ARGV[1], ARGV[2]
--@include shared/permits_tell
if #back > 0 and #back == #ARGV - 2 then
  return heard
end
return nil
