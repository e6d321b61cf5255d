-- SPDX-License-Identifier: Apache-2.0
-- shared/longest_read: how long the read holds of a read-write lock last. Each has a key of its own, the lock's and the
-- owner's with a number from 1 to the owner's count, that lives for as long as its lease. Those of a hold that has ended
-- are gone. While a slot moves between two servers, some of its keys are at the other one; then a hold that is not found
-- here counts for as long as the lock lives, which no hold outlives. EXISTS with both keys tells: it is refused unless
-- all keys are here. The server that the slot moves to takes one key that has not come yet for one that is not there.
-- Servers word that refusal differently, so any refusal counts, also of a user who may not ask.
-- reads  key; fields: as HGETALL gives them
-- sets   longest: the time to live in ms of the one that lives longest; -2: there is none
local longest = -2
do
  local before = string.find(key, '{', 1, true) and key or '{' .. key .. '}'
  for i = 1, #fields, 2 do
    local count = fields[i] ~= 'mode' and not string.find(fields[i], ':write$') and tonumber(fields[i + 1]) or 0
    -- Nobody enters ten thousand times; a number that somebody made up must not keep the server.
    for hold = count, math.max(1, count - 9999), -1 do
      local name = before .. ':' .. fields[i] .. ':rwlock_timeout:' .. hold
      local left = redis.pcall('PTTL', name)
      local seen = left == -2 and redis.pcall('EXISTS', key, name) or left
      if type(seen) == 'table' then
        left = redis.call('PTTL', key)
      end
      longest = math.max(longest, left)
    end
  end
end
