-- shared/once_keep: remembers an operation, before it changes anything, so that it is not carried out where this is
-- refused.
-- reads  once: the key; nil: it is not remembered; remembered: for how long in ms; said: what it replies, '' for nil;
--        gives: it gives something back, which a full server refuses to no script that has written already
if once then
  if gives then
    redis.call('DEL', once)
  end
  local kept = redis.pcall('SET', once, said, 'PX', remembered)
  if kept.err then
    return kept
  end
end
