-- SPDX-License-Identifier: Apache-2.0
-- shared/lock_form: whether a key holds a lock, or what else. A lock is a hash of one field, `<uuid>:<number>` or, of
-- node-redisson, `<uuid>:<uuid>`, whose value is a count from 1, and it has an expiry. Nothing else has that form;
-- anything different is left alone.
-- reads  key, which exists; ttl: what PTTL says of it; nil: a lock without an expiry, which nobody may wait for, is held
--        too. Of a hash with several fields, which may be large and is no lock, no more than is needed to name it
-- sets   held: a lock: its owner and the count; nil: none, or not permitted
--        other: what is there instead of a lock, without quoting any of it
--        refused: if not permitted, the error
local held, other, refused
local uuid = '%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x'
local owner, pair = '^' .. uuid .. ':%-?%d+', '^' .. uuid .. ':' .. uuid .. '$'
local size = redis.pcall('HLEN', key)
if size == 1 then
  held = redis.pcall('HGETALL', key)
  if held.err then
    held, refused = nil, held
  elseif not (held[2] and (string.find(held[1], owner .. '$') or string.find(held[1], pair)) and
              string.find(held[2], '^[1-9]%d*$')) then
    held, other = nil, 'a hash of one field that is no lock'
  elseif ttl == -1 then
    held, other = nil, 'a lock of ' .. held[1] .. ' without an expiry, so nothing ends it; PEXPIRE gives it one'
  end
elseif type(size) == 'number' then
  local mode, holds, grouped = 0, 0, 0
  local fields = size <= 1000 and redis.pcall('HGETALL', key) or {}
  for i = 1, #fields, 2 do
    local field, value = fields[i], fields[i + 1]
    if field == 'mode' and (value == 'read' or value == 'write') then
      mode = 1
    elseif string.find(field, owner .. '$') or string.find(field, owner .. ':write$') then
      holds = holds + 1
    elseif string.find(string.sub(field, 24), owner .. ':lock_count$') then
      grouped = grouped + 1
    end
  end
  other = 'a hash of ' .. size .. ' fields that is no lock'
  if mode == 1 and holds + 1 == size then
    other = 'a read-write lock'
  elseif grouped > 0 then
    other = 'a group of locks of Redisson (getMultiLock with a name)'
  end
elseif string.find(size.err, 'WRONGTYPE', 1, true) then
  local name = redis.pcall('TYPE', key).ok
  local names = {string = 'a string, as a SimpleLock, a semaphore or a count-down latch is', list = 'a list',
                 set = 'a set', zset = 'a sorted set', stream = 'a stream'}
  other = names[name] or 'no hash'
else
  refused = size
end
