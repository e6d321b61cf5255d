-- SPDX-License-Identifier: Apache-2.0
-- read_write/force_release: take a read-write lock from all its owners, or from one owner, and wake waiters
-- (protocol 8.5).
-- KEYS[1] lock   ARGV[1] channel   ARGV[2] way of shared/tell   ARGV[3] owner, whose holds of both kinds are taken;
--                missing: whoever has it
-- returns    1: it was held, by this owner if one is named; 0: it was not; an error, WRONGTYPE, if something else is there
-- publishes  1 on the channel when a writer had it, 0 when readers had it and none is left
-- retry      idempotent
-- pairs with Redisson forceUnlock() of either lock, which each take only their own mode; pcall, since a hold may be at
--            another server while the slot moves: it stays until its lease ends, and nobody has it
local key, ttl, most = KEYS[1], nil, math.huge
if redis.call('PTTL', key) == -2 then
  return 0
end
--@include shared/read_write_form
if other then
  return redis.error_reply('WRONGTYPE it is ' .. other)
end
if refused then
  return refused
end
local before, taken = string.find(key, '{', 1, true) and key or '{' .. key .. '}', 0
for i = 1, #fields, 2 do
  local field = fields[i]
  local who = string.gsub(field, ':write$', '')
  if field ~= 'mode' and (ARGV[3] or who) == who then
    taken = taken + redis.call('HDEL', key, field)
    for hold = 1, who == field and math.min(tonumber(fields[i + 1]) or 0, 10000) or 0 do
      redis.pcall('DEL', before .. ':' .. field .. ':rwlock_timeout:' .. hold)
    end
  end
end
if taken == 0 then
  return 0
end
fields = redis.call('HGETALL', key)
--@include shared/longest_read
if longest > 0 then
  redis.call('PEXPIRE', key, longest)
  return 1
end
redis.call('DEL', key)
local send, channel, payload, way = redis.pcall, ARGV[1], mode == 'write' and '1' or '0', ARGV[2]
--@include shared/tell
return 1
