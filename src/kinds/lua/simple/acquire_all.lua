-- SPDX-License-Identifier: Apache-2.0
-- simple/acquire_all: take several locks of the SET NX PX family for one owner, all or none.
-- KEYS[i] lock   ARGV[1] lease in ms, > 0   ARGV[2] owner
-- returns    nil: granted; else a list: the index of a lock that is taken, and its remaining time to live in ms, -1 if
--            it has none. Of several that are taken, one that stays longest
-- publishes  nothing
-- retry      idempotent: the same owner again sets the same values and the lease again
-- pairs with SET key value NX PX lease on each; a key of another type is an error before anything is changed; pcall, so
--            that where a write is refused those before it do not stay
local blocker, longest = 0, -2
for i = 1, #KEYS do
  local value = redis.call('GET', KEYS[i])
  if value and value ~= ARGV[2] then
    local ttl = redis.call('PTTL', KEYS[i])
    --@include shared/longest_blocker
  end
end
if blocker > 0 then
  return {blocker, longest}
end
for i = 1, #KEYS do
  local written = redis.pcall('SET', KEYS[i], ARGV[2], 'PX', ARGV[1])
  if written.err then
    for j = 1, i - 1 do
      redis.call('DEL', KEYS[j])
    end
    return written
  end
end
return nil
