-- SPDX-License-Identifier: Apache-2.0
-- shared/tell: publishes a release on a channel, by PUBLISH, or by another way if one is named.
-- reads  send: redis.call or redis.pcall; channel; payload; way: nil or 'publish', 'spublish', 'both'. A server that does
--        not know SPUBLISH, or a user who may not, only loses that part of 'both'
-- sets   told: how many clients received it, of this node; one that hears it both ways is one. Or why send was refused
local told = send(way == 'spublish' and 'SPUBLISH' or 'PUBLISH', channel, payload)
if way == 'both' then
  local sharded = redis.pcall('SPUBLISH', channel, payload)
  if type(sharded) == 'number' and type(told) == 'number' and sharded > told then
    told = sharded
  end
end
