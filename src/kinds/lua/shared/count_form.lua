-- SPDX-License-Identifier: Apache-2.0
-- shared/count_form: whether a key holds a number of at most 15 digits, as a semaphore or a latch does. Anything
-- else is left alone and reported, which ends the script.
-- reads  key
-- sets   count: the number; nil: nothing is there
local count
do
  local value = redis.pcall('GET', key)
  local other, refused
  if type(value) == 'string' then
    if value == '0' or #value <= 16 and string.find(value, '^%-?[1-9]%d*$') then
      count = tonumber(value)
    else
      other = 'a string that is no number'
    end
  elseif value and string.find(value.err, 'WRONGTYPE', 1, true) then
    local ttl = redis.call('PTTL', key)
    local named, denied
    do
      --@include shared/lock_form
      named, denied = held and 'a lock of another kind, with one owner at a time' or other, refused
    end
    other, refused = named, denied
  elseif value then
    refused = value
  end
  if other then
    return redis.error_reply('WRONGTYPE it is ' .. other)
  end
  if refused then
    return refused
  end
end
