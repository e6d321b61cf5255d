-- SPDX-License-Identifier: Apache-2.0
-- shared/permits_life: an earlier end of a leased semaphore is put off; one without an end stays so.
-- reads  key; ARGV[5]: time to live in ms
local ttl = redis.call('PTTL', key)
if ttl >= 0 and ttl < tonumber(ARGV[5]) then
  redis.call('PEXPIRE', key, ARGV[5])
end
