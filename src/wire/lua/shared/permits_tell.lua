-- shared/permits_tell: notifies waiters how many permits there are, if there are more than before, and any.
-- reads  count: how many there are now, or nil; more: whether that is more; send, channel and way of shared/tell
-- sets   heard: how many clients received it; or why send was refused
local heard = 0
if more and count and count > 0 then
  local payload = string.format('%.0f', count)
  --@include shared/tell
  heard = told
end
