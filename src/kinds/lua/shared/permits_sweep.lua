-- SPDX-License-Identifier: Apache-2.0
-- shared/permits_sweep: gives back the permits whose lease is over, by the server's clock (protocol 10.2); a thousand at a
-- time, ten thousand at most, so that no call keeps the server long. The rest is left for the next call.
-- reads  key, leases: the semaphore and the expiries of its permits
-- reads and sets  count: of shared/count_form
-- sets   now: ms since 1970; swept: how many were given back; broken: what the server says if it refuses
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local swept, broken = 0, nil
repeat
  local back = redis.pcall('ZRANGEBYSCORE', leases, 0, now, 'LIMIT', 0, 1000)
  if back.err then
    broken = back
    if string.find(back.err, 'WRONGTYPE', 1, true) then
      broken = redis.error_reply('WRONGTYPE it is a leased semaphore whose permits are no sorted set')
    end
  elseif #back > 0 then
    --@include shared/permits_back
    if not broken then
      swept = swept + given
    end
  end
until broken or #back < 1000 or swept == 10000
