-- SPDX-License-Identifier: Apache-2.0
-- read_write/downgrade: the writer becomes a reader, and there is no moment at which another writer could enter
-- (protocol 8.1 and 8.3).
-- KEYS[1] lock   KEYS[2] the reader's hold; none: it was set before, since it is at another server while the slot moves
-- ARGV[1] lease in ms, > 0   ARGV[2] owner as a writer   ARGV[3] owner as a reader, the same or another
-- ARGV[4] channel   ARGV[5] way of shared/tell, if it is not PUBLISH
-- returns    it reads: how many clients were notified, 0 if it did so already; nil: this owner does not have it
-- publishes  1 on the channel, when the writer has gone: waiting readers may enter
-- retry      idempotent: repeated, it sets the hold and its lease again
-- pairs with Redisson readLock().lock() and writeLock().unlock() by the writer's thread; that leaves waiting readers
--            asleep, so the message is ours
local key, field = KEYS[1], ARGV[2] .. ':write'
if redis.call('HEXISTS', key, field) == 0 and redis.call('HEXISTS', key, ARGV[3]) == 0 then
  return nil
end
if KEYS[2] then
  redis.call('SET', KEYS[2], 1, 'PX', ARGV[1])
end
redis.call('HSET', key, 'mode', 'read', ARGV[3], 1)
local gone = redis.call('HDEL', key, field)
local fields = redis.call('HGETALL', key)
--@include shared/longest_read
redis.call('PEXPIRE', key, longest)
if gone == 0 then
  return 0
end
local send, channel, payload, way = redis.call, ARGV[4], '1', ARGV[5]
--@include shared/tell
return told
