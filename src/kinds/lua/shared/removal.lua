-- SPDX-License-Identifier: Apache-2.0
-- shared/removal: the end of a script that removes a number, and says so with 1.
-- reads  key; count: of shared/count_form; once, remembered: of shared/once_keep; channel and way of shared/tell
if not count then
  return 0
end
local said, gives = 1, true
--@include shared/once_keep
local changed = redis.pcall('DEL', key)
--@include shared/once_drop
local send, payload = redis.pcall, '1'
--@include shared/tell
return 1
