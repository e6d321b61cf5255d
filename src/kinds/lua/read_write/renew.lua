-- SPDX-License-Identifier: Apache-2.0
-- read_write/renew: extend many holds at once, of readers and of writers, each only if its owner still has it
-- (protocol 5 and 8).
-- KEYS[i] lock, n of them   KEYS[n+j] the hold of the j-th reader among them; none: it is renewed by itself, since it is
--            at another server while the slot moves
-- ARGV[1] lease in ms, > 0   ARGV[1+i] the field of KEYS[i]: a reader's owner, or a writer's and `:write`
-- returns    a list of the i that were not extended: no longer this owner's (gone, taken, or not a lock)
-- publishes  nothing
-- retry      idempotent
-- pairs with Redisson's watchdogs. A lock that others hold too is never cut: it lives as long as the longest hold. A
--            field that is there was there all the time, so a reader's hold that has just ended begins again; pcall, so
--            that a key of another type does not stop the others; another refusal says nothing about the
--            owner, and is an error, reported after the renewal of the others
local call, pcall, keys, fields = redis.call, redis.pcall, KEYS, ARGV
local lease, count, lost, refused = tonumber(ARGV[1]), #ARGV - 1, {}, nil
local reader = 0
for i = 1, count do
  local key, field = keys[i], fields[i + 1]
  local hold
  if string.sub(field, -6) ~= ':write' then
    reader = reader + 1
    hold = keys[count + reader]
  end
  local has = pcall('HEXISTS', key, field)
  if has == 1 then
    if hold and call('PEXPIRE', hold, lease) == 0 then
      local set = pcall('SET', hold, 1, 'PX', lease)
      refused = set.err and set or refused
    end
    if call('PTTL', key) < lease or call('HLEN', key) == 2 then
      call('PEXPIRE', key, lease)
    end
  elseif type(has) == 'table' and not string.find(has.err, 'WRONGTYPE', 1, true) then
    refused = has
  else
    lost[#lost + 1] = i
  end
end
return refused or lost
