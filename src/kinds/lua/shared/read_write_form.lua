-- SPDX-License-Identifier: Apache-2.0
-- shared/read_write_form: whether a key holds a read-write lock, or what else. Such a lock is a hash of `mode`, which is
-- `read` or `write`, and of at least one hold: a reader `<uuid>:<number>`, or a writer `<uuid>:<number>:write`, each with
-- a count; and it has an expiry. Anything different is left alone. Of more than ten thousand fields that may be anything
-- `mode` must be one before all of them are read.
-- reads  key, which exists; ttl: what PTTL says of it; nil: a lock without an expiry, which nobody may wait for, counts
--        too; most: of more fields than these only some are read, and judged
-- sets   mode and fields, as HGETALL gives them: of a read-write lock; nil and empty: it is none, or not permitted
--        other: what is there instead of such a lock, or what is wrong with it
--        refused: if not permitted, the error
local mode, fields, other, refused
do
  local size = redis.pcall('HLEN', key)
  local owner = '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x:%-?%d+'
  local read = type(size) == 'number' and size > 1 and (size <= 10000 or redis.pcall('HEXISTS', key, 'mode') == 1)
  local found, holds, strange = nil, 0, 0
  fields = {}
  if read and size > most then
    found = redis.pcall('HGET', key, 'mode')
    --@include shared/few_fields
    fields = type(found) == 'string' and few or fields
  end
  if read and not fields[1] then
    fields = redis.pcall('HGETALL', key)
  end
  for i = 1, #fields, 2 do
    local field = fields[i]
    if field == 'mode' then
      found = fields[i + 1]
    elseif string.find(field, owner .. '$') or string.find(field, owner .. ':write$') then
      holds = holds + 1
    else
      strange = strange + 1
    end
  end
  if holds > 0 and strange == 0 and (found == 'read' or found == 'write') then
    mode = found
    if ttl == -1 then
      other = 'a read-write lock without an expiry, so nothing ends it; PEXPIRE gives it one'
    end
  else
    fields = {}
    local named, denied
    do
      --@include shared/lock_form
      named, denied = held and 'a lock of another kind, with one owner at a time' or other, refused
    end
    other, refused = named, denied
  end
end
