-- lock/release_all: give back those of several locks that this owner has, and wake a waiter of each (protocol 6.1,
-- transition 2, for each).
-- KEYS[i] lock   ARGV[1] owner   ARGV[1+i] channel of KEYS[i]   behind them the way of shared/tell, if it is not PUBLISH
-- returns    all released: how many clients were told; nil: at least one was not this owner's
-- publishes  0 on the channel of each that was released
-- retry      idempotent: a repeated send finds nothing and changes nothing
-- pairs with Redisson unlock() on each; pcall, so that one key of another type, or one message that is refused, does not
--            keep the others; that writes are refused says nothing of whose a lock is, and is an error
local send, payload, way = redis.pcall, '0', ARGV[2 + #KEYS]
local released, heard, refused = 0, 0, nil
for i = 1, #KEYS do
  local gone = redis.pcall('HDEL', KEYS[i], ARGV[1])
  if gone == 1 then
    released = released + 1
    local channel = ARGV[1 + i]
    --@include shared/tell
    if type(told) == 'table' then
      refused = told
    else
      heard = heard + told
    end
  elseif type(gone) == 'table' and not string.find(gone.err, 'WRONGTYPE', 1, true) then
    refused = gone
  end
end
if refused then
  return refused
end
if released == #KEYS then
  return heard
end
return nil
