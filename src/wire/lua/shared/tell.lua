-- shared/tell: tells of a release those who listen on a channel, by PUBLISH; by another way where one is named.
-- reads  send: redis.call or redis.pcall; channel; payload; way: nil or 'publish', 'spublish', 'both'. A server that does
--        not know SPUBLISH, or a user who may not, takes nothing from 'both' but that
-- sets   told: how many clients heard it, of this node; one that hears it both ways is one. Or why send was refused
local told = send(way == 'spublish' and 'SPUBLISH' or 'PUBLISH', channel, payload)
if way == 'both' then
  local sharded = redis.pcall('SPUBLISH', channel, payload)
  if type(sharded) == 'number' and type(told) == 'number' and sharded > told then
    told = sharded
  end
end
