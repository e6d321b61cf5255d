-- SPDX-License-Identifier: Apache-2.0
-- read_write/release_write: release the writer's hold, and wake all waiters (protocol 8.3).
-- KEYS[1] lock   ARGV[1] owner   ARGV[2] channel   ARGV[3] way of shared/tell, if it is not PUBLISH
-- returns    released: how many clients were notified; nil: this owner does not have it
-- publishes  1 on the channel, when released; also if the writer still reads, so that other readers come
-- also takes the hold from an owner by force, but not from a later one
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson writeLock().unlock(). If the owner still reads, the lock lives as long as that; pcall, since a full
--            server refuses to set the mode: then nobody reads beside it
local key = KEYS[1]
if redis.call('HDEL', key, ARGV[1] .. ':write') == 0 then
  return nil
end
local fields = redis.call('HGETALL', key)
--@include shared/longest_read
if longest > 0 then
  redis.pcall('HSET', key, 'mode', 'read')
  redis.call('PEXPIRE', key, longest)
else
  redis.call('DEL', key)
end
local send, channel, payload, way = redis.call, ARGV[2], '1', ARGV[3]
--@include shared/tell
return told
