-- fair/refresh: put off the deadlines of waiters that are alive, each only if it is still in its queue (protocol 7).
-- KEYS[i] lock   KEYS[n+i] its deadlines   ARGV[1] turn, in ms, that they have asked with   ARGV[2] the same of Redisson's
-- waiters   ARGV[2+i] owner that waits for KEYS[i]
-- returns    a list of the i that are not in the queue: they have entered, have left, or were taken for dead
-- publishes  nothing
-- retry      idempotent
-- pairs with nothing of Redisson's, whose waiters lose their place after some time; pcall, so that a key of another type
--            does not stop the others; that the question is refused is an error
local turn, theirs, count, lost, refused = tonumber(ARGV[1]), tonumber(ARGV[2]), #KEYS / 2, {}, nil
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for i = 1, count do
  local deadlines, own = KEYS[count + i], ARGV[2 + i]
  local score = redis.pcall('ZSCORE', deadlines, own)
  if type(score) == 'string' then
    local left = math.max(redis.call('PTTL', KEYS[i]), 0)
    --@include shared/fair_refresh
  elseif score and not string.find(score.err, 'WRONGTYPE', 1, true) then
    refused = score
  else
    lost[#lost + 1] = i
  end
end
return refused or lost
