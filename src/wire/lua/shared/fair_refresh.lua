-- shared/fair_refresh: puts off the deadline of a waiter that is alive, so that it keeps its place however long the lock
-- is held. It only counts once it is at the head, so it may be later than those behind.
-- reads  deadlines, own, now; score: its deadline so far; left: for how long the lock is taken, in ms; turn: how long one
--        who is next may leave the lock free; theirs: the same of Redisson's waiters, who take that off everybody's
--        deadline when they enter
do
  local rank = redis.call('ZRANK', deadlines, own)
  local wanted = now + left + (rank + 2) * turn
  local before = rank > 0 and redis.call('ZRANGE', deadlines, rank - 1, rank - 1, 'WITHSCORES') or {}
  if before[1] and string.find(before[1], '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-[^8]') then
    wanted = math.max(wanted, before[2] + 2 * turn + theirs)
  end
  if wanted > tonumber(score) then
    redis.call('ZADD', deadlines, 'XX', wanted, own)
  end
end
