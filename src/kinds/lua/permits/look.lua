-- SPDX-License-Identifier: Apache-2.0
-- permits/look: how many permits there are, how many are held, and which (protocol 10.2, transitions 4 to 6 and 11).
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set
--            ARGV[1] channel   ARGV[2] way of shared/tell   ARGV[3] most: of how many it is said which
-- returns    nil: there is no semaphore; else a list: how many permits can be taken, how many are held, and of at most so
--            many that are held, those first whose lease is over first, the id and the rest of the lease in ms, -1 if it has
--            no end; an error, WRONGTYPE, if something else is there
-- publishes  how many permits there are now, if permits whose lease was over have left any
-- retry      only gives those back, if permitted
-- pairs with Redisson availablePermits(), acquiredPermits(), getPermits(), getLeaseTime()
local key, leases = KEYS[1], KEYS[2]
--@include shared/count_form
--@include shared/permits_sweep
if broken and string.find(broken.err, 'WRONGTYPE', 1, true) then
  return broken
end
local more, channel, way = swept > 0, ARGV[1], ARGV[2]
--@include shared/permits_tell
if not count then
  return nil
end
local after = string.format('(%.0f', now)
local seen = {count + redis.call('ZCOUNT', leases, 0, now), redis.call('ZCOUNT', leases, after, '+inf')}
local held = redis.call('ZRANGEBYSCORE', leases, after, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
for i = 1, #held, 2 do
  seen[#seen + 1] = held[i]
  local score = tonumber(held[i + 1])
  seen[#seen + 1] = score < 922337203685477 and score - now or -1
end
return seen
