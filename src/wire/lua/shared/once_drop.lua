-- shared/once_drop: what was refused is not remembered, and is told.
-- reads  once: the key, or nil; changed: what the server says of the change
if type(changed) == 'table' and changed.err then
  if once then
    redis.call('DEL', once)
  end
  return changed
end
