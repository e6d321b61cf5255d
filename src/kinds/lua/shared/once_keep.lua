-- SPDX-License-Identifier: Apache-2.0
-- shared/once_keep: remembers an operation, before it changes anything, so that it is not carried out if this is
-- refused.
-- reads  once: the key; nil: it is not remembered; remembered: how long in ms; said: its reply, '' for nil;
--        gives: it gives something back, which even a full server allows in a script that has already written
if once then
  if gives then
    redis.call('DEL', once)
  end
  local kept = redis.pcall('SET', once, said, 'PX', remembered)
  if kept.err then
    return kept
  end
end
