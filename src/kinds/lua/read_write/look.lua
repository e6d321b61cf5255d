-- SPDX-License-Identifier: Apache-2.0
-- read_write/look: who has the read-write lock, and how (protocol 8).
-- KEYS[1] lock   ARGV[] none
-- returns    nil: it is free; else a list: the mode, `read` or `write`; the time to live in ms; and for each hold its field
--            (a reader's owner, or a writer's and `:write`), its count, and the time in ms that it has left: of a reader the
--            longest of its holds, below 0 if they are over; of a writer that of the lock. An error, WRONGTYPE, if
--            something else is there
-- publishes  nothing
-- retry      changes nothing
-- pairs with HGETALL, which cannot recognise things that are not locks
local key, left, ttl, most = KEYS[1], redis.call('PTTL', KEYS[1]), nil, math.huge
if left == -2 then
  return nil
end
--@include shared/read_write_form
if other then
  return redis.error_reply('WRONGTYPE it is ' .. other)
end
if refused then
  return refused
end
local all, seen = fields, {mode, left}
for i = 1, #all, 2 do
  if all[i] ~= 'mode' then
    fields = {all[i], all[i + 1]}
    --@include shared/longest_read
    seen[#seen + 1] = all[i]
    seen[#seen + 1] = all[i + 1]
    seen[#seen + 1] = string.find(all[i], ':write$') and left or longest
  end
end
return seen
