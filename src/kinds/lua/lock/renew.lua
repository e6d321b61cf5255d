-- SPDX-License-Identifier: Apache-2.0
-- lock/renew: extend many holds at once, each only if its owner still has it (protocol 5 and 6.1, transition 4).
-- KEYS[i] lock   ARGV[1] lease in ms, > 0   ARGV[1+i] owner of KEYS[i]
-- returns    a list of the i that were not extended: no longer this owner's (gone, taken, or not a lock)
-- publishes  nothing
-- retry      idempotent
-- pairs with Redisson's watchdog; pcall, so that a key of another type does not stop the others' renewal; a refused
--            query says nothing about the owner, and is an error
local call, pcall, keys, owners = redis.call, redis.pcall, KEYS, ARGV
local lease, lost = ARGV[1], {}
for i = 1, #keys do
  local has = pcall('HEXISTS', keys[i], owners[i + 1])
  if has == 1 then
    call('PEXPIRE', keys[i], lease)
  elseif type(has) == 'table' and not string.find(has.err, 'WRONGTYPE', 1, true) then
    return has
  else
    lost[#lost + 1] = i
  end
end
return lost
