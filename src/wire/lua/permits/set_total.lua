-- permits/set_total: set the total permits of a leased semaphore, including those that are held (protocol 10.2,
-- transition 8).
-- KEYS[1] semaphore   KEYS[2] expiries, a sorted set
--            ARGV[1] permits   ARGV[2] channel   ARGV[3] way of shared/tell
-- returns    how many can be taken now; below 0 if more are held than that; an error, WRONGTYPE, if something
--            else is there
-- publishes  that, if there are more than before, and any
-- retry      idempotent
-- pairs with Redisson setPermits(); the time to live stays
local key, leases = KEYS[1], KEYS[2]
--@include shared/count_form
--@include shared/permits_sweep
if broken then
  return broken
end
local before = count
if count then
  local change = ARGV[1] - count - redis.call('ZCARD', leases)
  if change ~= 0 then
    redis.call('INCRBY', key, string.format('%.0f', change))
  end
  count = count + change
else
  redis.call('SET', key, ARGV[1])
  count = tonumber(ARGV[1])
end
local more, send, channel, way = swept > 0 or count > (before or 0), redis.call, ARGV[2], ARGV[3]
--@include shared/permits_tell
return count
