-- SPDX-License-Identifier: Apache-2.0
-- fair/look: who has a fair lock, and who waits for it, in order (protocol 7).
-- KEYS[1] lock   KEYS[2] queue   KEYS[3] deadlines   ARGV[1] the most waiters to list
-- returns    nil: it is free and nobody waits; else a list: the owner, its count, and the time to live in ms (nil, nil and
--            -2: it is free), how many wait, and for each of the first its owner and the time in ms until it loses its place
--            if it sends nothing; nil: it has no deadline. An error, WRONGTYPE, if something else is there
-- publishes  nothing
-- retry      changes nothing
-- pairs with HGETALL, LRANGE and ZSCORE, which cannot recognise things that are not locks
local key, left, holder, holds, ttl = KEYS[1], redis.call('PTTL', KEYS[1]), false, false
if left ~= -2 then
  --@include shared/lock_form
  if other then
    return redis.error_reply('WRONGTYPE it is ' .. other)
  end
  if not held then
    return refused
  end
  holder, holds = held[1], held[2]
end
local waiting = redis.call('LLEN', KEYS[2])
if not holder and waiting == 0 then
  return nil
end
local seen = {holder, holds, left, waiting}
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for _, waiter in ipairs(redis.call('LRANGE', KEYS[2], 0, ARGV[1] - 1)) do
  local deadline = redis.call('ZSCORE', KEYS[3], waiter)
  seen[#seen + 1] = waiter
  seen[#seen + 1] = deadline and deadline - now
end
return seen
