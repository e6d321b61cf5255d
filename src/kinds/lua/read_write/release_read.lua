-- SPDX-License-Identifier: Apache-2.0
-- read_write/release_read: release a reader's hold, and wake waiters if it was the last (protocol 8.4).
-- KEYS[1] lock   KEYS[2] the reader's hold; none: it is at another server while the slot moves, and is left to end by
--                itself   ARGV[1] owner   ARGV[2] channel   ARGV[3] way of shared/tell, if it is not PUBLISH
-- returns    released: how many clients were notified, 0 while others hold it; nil: this owner does not have it
-- publishes  0 on the channel, when it is free: neither a writer nor a reader whose lease is not over
-- also takes the hold from an owner by force, but not from a later one
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson readLock().unlock(). What is left lives as long as the longest hold that is left; a writer's lease is
--            not cut. Of a crowd only those that may be the one with the longest look at all others: its lease is the
--            lock's
local key = KEYS[1]
if redis.call('HDEL', key, ARGV[1]) == 0 then
  return nil
end
local size, left = tonumber(redis.pcall('HLEN', key)) or 2, nil
if KEYS[2] then
  left = size > 64 and redis.call('PTTL', KEYS[2])
  redis.call('DEL', KEYS[2])
end
-- Redis 6 may have set the lock's expiry 1 ms later than this one's own.
if left and left + 1 < redis.call('PTTL', key) then
  --@include shared/few_fields
  local fields = few
  --@include shared/longest_read
  if longest > 0 then
    return 0
  end
end
local fields, writing = size > 1 and redis.call('HGETALL', key) or {}, false
for i = 1, #fields, 2 do
  writing = writing or string.find(fields[i], ':write$')
end
--@include shared/longest_read
if longest > 0 and not (writing and longest <= redis.call('PTTL', key)) then
  redis.call('PEXPIRE', key, longest)
end
if writing or longest > 0 then
  return 0
end
redis.call('DEL', key)
local send, channel, payload, way = redis.call, ARGV[2], '0', ARGV[3]
--@include shared/tell
return told
