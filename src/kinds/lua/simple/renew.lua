-- SPDX-License-Identifier: Apache-2.0
-- simple/renew: extend many holds of the SET NX PX family at once, each only if its owner still has it.
-- KEYS[i] lock   ARGV[1] lease in ms, > 0   ARGV[1+i] owner of KEYS[i]
-- returns    a list of the i that were not extended: no longer this owner's (gone, taken, or not a lock)
-- publishes  nothing
-- retry      idempotent
-- pairs with the compare-and-PEXPIRE of this family; pcall, so that a key of another type does not stop the others';
--            a refused query says nothing about the owner, and is an error
local call, pcall, keys, owners = redis.call, redis.pcall, KEYS, ARGV
local lease, lost = ARGV[1], {}
for i = 1, #keys do
  local owner = pcall('GET', keys[i])
  if owner == owners[i + 1] then
    call('PEXPIRE', keys[i], lease)
  elseif type(owner) == 'table' and not string.find(owner.err, 'WRONGTYPE', 1, true) then
    return owner
  else
    lost[#lost + 1] = i
  end
end
return lost
