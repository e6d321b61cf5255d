-- SPDX-License-Identifier: Apache-2.0
-- semaphore/acquire: take this many permits at once, or none (protocol 10.1, transition 1).
-- KEYS[1] semaphore   KEYS[2] under which it is remembered; none: it is not
--            ARGV[1] permits, > 0   ARGV[2] how long it is remembered, in ms   ARGV[3] channel, if those who listen are
--            to be counted; ARGV[4] how: SHARDNUMSUB; none: NUMSUB
-- returns    nil: granted; else -1, since it is unknown when there will be enough, -2 if there is no semaphore; with a
--            channel the list 1, that, how many listen on the channel (-1: not permitted); an error, WRONGTYPE, if
--            something else is there
-- publishes  nothing
-- retry      with KEYS[2] idempotent as long as it is remembered; what was not granted is not. semaphore/release may have
--            written there that it is given up; then it is not granted either
-- pairs with Redisson acquire(), tryAcquire()
local key, once, remembered = KEYS[1], KEYS[2], ARGV[2]
--@include shared/once_before
--@include shared/count_form
if not count or count < tonumber(ARGV[1]) then
  local left = count and -1 or -2
  if not ARGV[3] then
    return left
  end
  local listeners = redis.pcall('PUBSUB', ARGV[4] or 'NUMSUB', ARGV[3])
  return {1, left, listeners[2] or -1}
end
local said, gives = '', false
--@include shared/once_keep
local changed = redis.pcall('DECRBY', key, ARGV[1])
--@include shared/once_drop
return nil
