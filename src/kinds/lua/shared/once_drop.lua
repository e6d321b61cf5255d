-- SPDX-License-Identifier: Apache-2.0
-- shared/once_drop: a refused operation is not remembered, and the refusal is reported.
-- reads  once: the key, or nil; changed: what the server says of the change
if type(changed) == 'table' and changed.err then
  if once then
    redis.call('DEL', once)
  end
  return changed
end
