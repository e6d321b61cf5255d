-- SPDX-License-Identifier: Apache-2.0
-- simple/release_all: release those of several locks of the SET NX PX family that this owner has.
-- KEYS[i] lock   ARGV[1] owner   ARGV[1+i] channel of KEYS[i]   behind them the way of shared/tell, if it is not PUBLISH
-- returns    all released: how many clients were notified; nil: at least one was not this owner's
-- publishes  0 on the channel of each that was released; a user who may not publish releases all the same
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with the compare-and-delete on each; pcall, so that a key of another type does not keep the others;
--            a refused query says nothing about the owner, and is an error
local send, payload, way = redis.pcall, '0', ARGV[2 + #KEYS]
local released, heard, refused = 0, 0, nil
for i = 1, #KEYS do
  local owner = redis.pcall('GET', KEYS[i])
  if owner == ARGV[1] then
    redis.call('DEL', KEYS[i])
    local channel = ARGV[1 + i]
    --@include shared/tell
    heard = heard + (type(told) == 'number' and told or 0)
    released = released + 1
  elseif type(owner) == 'table' and not string.find(owner.err, 'WRONGTYPE', 1, true) then
    refused = owner
  end
end
if refused then
  return refused
end
if released == #KEYS then
  return heard
end
return nil
