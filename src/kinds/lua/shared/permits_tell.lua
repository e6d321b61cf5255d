-- SPDX-License-Identifier: Apache-2.0
-- shared/permits_tell: notifies waiters how many permits there are, if there are more than before, and any. What was
-- changed stays so if this user may not publish: the waiters find out when they ask next.
-- reads  count: how many there are now, or nil; more: whether that is more; channel and way of shared/tell
-- sets   heard: how many clients received it
local heard = 0
if more and count and count > 0 then
  local send, payload = redis.pcall, string.format('%.0f', count)
  --@include shared/tell
  heard = type(told) == 'number' and told or 0
end
