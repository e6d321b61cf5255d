-- SPDX-License-Identifier: Apache-2.0
-- permits/remove: remove a leased semaphore; what is held stays so (protocol 10.2).
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set   KEYS[3] under which it is remembered; none: it is not
--            ARGV[1] how long it is remembered, in ms   ARGV[2] channel   ARGV[3] way of shared/tell
-- returns    1: it was there; 0: it was not; an error, WRONGTYPE, if something else is there
-- publishes  1, if it was there, so that waiters ask and learn that there is none
-- retry      with KEYS[3] idempotent as long as it is remembered: the next semaphore of this name is not removed by it
-- pairs with Redisson delete(), which forgets what is held. Permits that are held are renewed and given back as before, and
--            count when a semaphore of this name is made again
local key, leases, once, remembered, channel, way = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
--@include shared/once_before
--@include shared/count_form
--@include shared/permits_sweep
if broken then
  return broken
end
--@include shared/removal
