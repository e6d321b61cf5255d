-- SPDX-License-Identifier: Apache-2.0
-- permits/renew: set the leases of many holds at once, each only if all its permits are still there (protocol 10.2,
-- transition 10).
-- KEYS[i] expiries, a sorted set   ARGV[1] lease in ms, > 0; -1: for ever   ARGV[1+i] the ids of hold i, 16 bytes each, one
--            behind the other
-- returns    a list of the i that were not extended: of one of their permits the lease is over, or it was given back
-- publishes  nothing
-- retry      idempotent
-- pairs with Redisson updateLeaseTime(). Time is the server's; pcall, so that a key of another type does not stop the
--            others; a refused query says nothing about the owner, and is an error. The first write is
--            one that a full server allows, so that it allows the others. Something is always written, if need be one
--            millisecond later: what replicas have confirmed (WAIT) counts from the connection's last write, and a score
--            that stays as it was is none. Expiries that have an end have none before the lease, or ten years
local call, pcall = redis.call, redis.pcall
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local expiry = ARGV[1] == '-1' and '922337203685477' or string.format('%.0f', now + ARGV[1])
local lost, written, last_leases, last_id = {}, 0, nil, nil
for i = 1, #KEYS do
  local leases, ids = KEYS[i], ARGV[i + 1]
  local held = ids ~= ''
  for at = 1, #ids, 16 do
    local score = pcall('ZSCORE', leases, string.sub(ids, at, at + 15))
    if type(score) == 'table' and not string.find(score.err, 'WRONGTYPE', 1, true) then
      return score
    end
    held = held and type(score) == 'string' and tonumber(score) > now
  end
  if held then
    call('ZREM', leases, '')
    for at = 1, #ids, 16 do
      last_leases, last_id = leases, string.sub(ids, at, at + 15)
      written = written + call('ZADD', leases, 'CH', expiry, last_id)
    end
    local ends = call('PTTL', leases)
    local needed = math.min(expiry - now, 315360000000)
    if ends >= 0 and ends < needed then
      pcall('PEXPIRE', leases, string.format('%.0f', needed))
    end
  else
    lost[#lost + 1] = i
  end
end
if written == 0 and last_id then
  call('ZADD', last_leases, string.format('%.0f', expiry + 1), last_id)
end
return lost
