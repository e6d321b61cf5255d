-- simple/renew: extend many holds of the SET NX PX family at once, each only if its owner still has it.
-- KEYS[i] lock   ARGV[2i-1] owner of KEYS[i]   ARGV[2i] lease in ms, > 0
-- returns    a list, for each lock: 1 extended; 0 not this owner's any more (gone, taken, or not a lock)
-- publishes  nothing
-- retry      idempotent
-- pairs with the compare-and-PEXPIRE of this family; pcall, so that a key of another type does not stop the others'
local replies = {}
for i = 1, #KEYS do
  replies[i] = 0
  if redis.pcall('GET', KEYS[i]) == ARGV[2 * i - 1] then
    redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
    replies[i] = 1
  end
end
return replies
