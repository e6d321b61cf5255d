-- SPDX-License-Identifier: Apache-2.0
-- shared/permits_back: gives leased permits back to their semaphore, if it is still there. A missing semaphore is not
-- recreated from them.
-- reads  key, leases; back: their members, not more than some thousand; one that is named twice, or is not there, counts
--        no more than it should
-- reads and sets  count: of shared/count_form, with them; broken: what the server says if it refuses, and then nothing is
--        changed. The first write is one that a full server allows
-- sets   given: how many have been given back
local given = 0
redis.pcall('ZREM', leases, '')
local added = count and redis.pcall('INCRBY', key, #back) or 0
if type(added) == 'table' then
  broken = added
else
  local removed = redis.pcall('ZREM', leases, unpack(back))
  if type(removed) == 'table' then
    broken = removed
  else
    given = removed
  end
  if count and given < #back then
    redis.call('INCRBY', key, given - #back)
  end
  count = count and count + given
end
