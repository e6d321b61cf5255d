-- SPDX-License-Identifier: Apache-2.0
-- shared/read_write_busy: the end of an acquire of a read-write lock that another owner has, in a way that excludes it.
-- reads  ttl, fields and other of shared/read_write_form; own: the requesting owner; channel: if listeners are to
--        be counted; numsub: how, if not by NUMSUB
if other then
  return redis.error_reply('WRONGTYPE it is ' .. other)
end
if not channel then
  return ttl
end
local holder
for i = 1, #fields, 2 do
  local who = string.gsub(fields[i], ':write$', '')
  if who ~= 'mode' and (who ~= fields[i] or not holder or holder == own) then
    holder = who
  end
end
local listeners = redis.pcall('PUBSUB', numsub or 'NUMSUB', channel)
return {1, ttl, listeners[2] or -1, holder}
