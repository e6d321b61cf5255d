-- SPDX-License-Identifier: Apache-2.0
-- semaphore/release: give this many permits back, if the semaphore is still there (protocol 10.1, transition 3).
-- KEYS[1] semaphore   KEYS[2] under which it is remembered; none: it is not   KEYS[3] under which the acquire is remembered
--            that this undoes; none: it was granted
--            ARGV[1] permits, > 0   ARGV[2] how long it is remembered, in ms   ARGV[3] channel   ARGV[4] way of
--            shared/tell, if it is not PUBLISH
-- returns    given back: how many clients were notified; nil: no semaphore, or the acquire was not granted, and will
--            not be: it is given up; an error, WRONGTYPE, if something else is there
-- publishes  how many permits there are now, if there are any
-- retry      with KEYS[2] idempotent as long as it is remembered
-- pairs with Redisson releaseIfExists(); a semaphore that is gone, or whose time to live has ended, is not recreated from
--            what was taken from it
local key, once, undoes, remembered = KEYS[1], KEYS[2], KEYS[3], ARGV[2]
--@include shared/once_before
if undoes then
  local granted = redis.call('GET', undoes)
  if not granted then
    redis.pcall('SET', undoes, '-1', 'PX', remembered)
  end
  if granted ~= '' then
    return nil
  end
end
--@include shared/count_form
local said, gives = '', true
if not count then
  --@include shared/once_keep
  return nil
end
count = count + ARGV[1]
local more, channel, way = true, ARGV[3], ARGV[4]
--@include shared/permits_tell
said = heard
--@include shared/once_keep
local changed = redis.pcall('INCRBY', key, ARGV[1])
--@include shared/once_drop
return heard
