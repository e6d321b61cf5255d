-- SPDX-License-Identifier: Apache-2.0
-- shared/fair_tell: notifies the next waiter in a fair lock's queue that it is free; each has a channel of its own. If
-- no client receives it, as when that process was killed, the one behind is notified too: it makes sure that the other
-- does not keep the lock.
-- reads  queue; base: the lock's channel; send, payload and way of shared/tell
-- sets   heard: how many clients received it
local heard = 0
local waiting = redis.pcall('LRANGE', queue, 0, 15)
for i = 1, #waiting do
  local channel = base .. ':' .. waiting[i]
  --@include shared/tell
  if type(told) == 'number' and told > 0 then
    heard = told
    break
  end
end
