-- SPDX-License-Identifier: Apache-2.0
-- shared/lock_take: takes a lock by force, from any owner or a given one; also one without an expiry, which nothing else
-- would end. If there is nothing to take, or it is no lock, the script ends here.
-- reads  key; from: who must have it; nil: anyone
-- sets   as shared/lock_form, of the lock as it was
local ttl
if redis.call('PTTL', key) == -2 then
  return 0
end
--@include shared/lock_form
if other then
  return redis.error_reply('WRONGTYPE it is ' .. other)
end
if not held then
  return refused
end
if from and from ~= held[1] then
  return 0
end
redis.call('HDEL', key, held[1])
