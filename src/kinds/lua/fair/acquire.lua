-- SPDX-License-Identifier: Apache-2.0
-- fair/acquire: take a fair lock for one owner whose turn it is, or join its queue, and say how long to wait (protocol 7,
-- transitions 1 and 2).
-- KEYS[1] lock   KEYS[2] queue, a list   KEYS[3] deadlines, a sorted set; without them, which are at another server
-- while the slot moves, it only says how long the lock is taken, and 1 ms if it is free
-- ARGV[1] lease in ms, > 0   ARGV[2] owner   ARGV[3] turn: how long in ms the next waiter may leave the lock free; 0: this
-- owner does not wait, and is not queued   ARGV[4] the same of Redisson's waiters   ARGV[5] channel   ARGV[6] way of
-- shared/tell, if it is not PUBLISH
-- returns    nil: granted; else how long it stays taken in ms, or, if it is free, how long another's turn lasts: alone, if
--            this owner is not queued, or a list of 1, that, and how many others are queued, and 2; an error, WRONGTYPE, if
--            something other than a lock is there, or the queue is none
-- publishes  0 on the next waiter's channel, if the lock is free: once, also on that of the one behind if no client
--            receives it; and again if a quarter of its turn is over
-- retry      idempotent: the same owner again keeps its hold or its place
-- pairs with Redisson getFairLock().lock(), tryLock(). Time is the server's; pcall, so that where a write is refused
--            nothing without an expiry stays
-- A waiter that asks again is alive: its deadline is extended, so it keeps its place however long the lock is held.
-- That only counts once it is next, so it may be later than those behind. It has a turn for each ahead of it, a hundred at
-- most: so the first hundred lose a turn whenever one ahead of them enters or leaves. Redisson's waiters take their turn
-- off everybody's deadline when they enter. In a long queue each asks rarely, so deadlines are later by three of its
-- pauses: 40 ms for each other, up to Redisson's turn. Once it is next and the lock is free, a waiter has its turn and no
-- longer. What killed waiters leave ends by itself, a day after the last deadline: far later than anybody who is alive
-- comes back
local key, queue, deadlines, own = KEYS[1], KEYS[2], KEYS[3], ARGV[2]
local ttl = redis.call('PTTL', key)
local free = ttl == -2
local mine = not free and redis.pcall('HEXISTS', key, own)
if mine == 1 then
  redis.call('PEXPIRE', key, ARGV[1])
  return nil
end
if mine then
  --@include shared/lock_form
  if other then
    return redis.error_reply('WRONGTYPE it is ' .. other)
  end
  if mine ~= 0 then
    return mine
  end
end
if not queue then
  return free and 1 or ttl
end
--@include shared/fair_sweep
if broken then
  if string.find(broken.err, 'WRONGTYPE', 1, true) then
    return redis.error_reply('WRONGTYPE it is a fair lock whose queue is none: redisson_lock_queue must be a list, redisson_lock_timeout a sorted set')
  end
  return broken
end
local turn, theirs, others = tonumber(ARGV[3]), tonumber(ARGV[4]), nil
local function busy(left)
  return others and {1, left, others + 2} or left
end
if free and (not head or head == own) then
  redis.call('HSET', key, own, 1)
  local expiry = redis.pcall('PEXPIRE', key, ARGV[1])
  if type(expiry) == 'table' then
    if redis.pcall('HDEL', key, own) ~= 1 then
      redis.call('DEL', key)
    end
    return expiry
  end
  if head then
    redis.call('LPOP', queue)
    redis.call('ZREM', deadlines, own)
    for _, waiter in ipairs(redis.call('LRANGE', queue, 0, 99)) do
      redis.call('ZADD', deadlines, 'XX', 'INCR', -turn, waiter)
    end
  end
  return nil
end
if turn > 0 then
  local left = free and 0 or ttl
  local score = redis.call('ZSCORE', deadlines, own)
  local back = redis.call('ZRANGE', deadlines, -1, -1)[1]
  others = back and redis.call('ZRANK', deadlines, back) + (score and 0 or 1) or 0
  local rarely = math.max(math.min(40 * others, theirs) - turn, 0)
  if score then
    local ahead, before = 0, nil
    for _, waiter in ipairs(redis.call('LRANGE', queue, 0, 99)) do
      if waiter == own then
        break
      end
      ahead, before = ahead + 1, waiter
    end
    local wanted = now + left + (ahead + 2) * turn + rarely
    local its = ahead > 0 and ahead < 100 and string.find(before, '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-[^8]')
    its = its and redis.call('ZSCORE', deadlines, before)
    if its then
      wanted = math.max(wanted, its + 2 * turn + theirs)
    end
    if wanted > tonumber(score) then
      redis.call('ZADD', deadlines, 'XX', wanted, own)
    end
  else
    local tail = redis.call('LINDEX', queue, -1)
    local last = tail and tail ~= own and redis.call('ZSCORE', deadlines, tail)
    local chained = (last and math.max(last - now, 0) or left) + now + (others < 100 and turn or 0)
    if last and string.find(tail, '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-[^8]') then
      chained = chained + theirs
    end
    if rarely > 0 then
      chained = math.max(chained, now + left + (math.min(others, 100) + 2) * turn + rarely)
    end
    local joined = redis.pcall('ZADD', deadlines, chained, own)
    if type(joined) ~= 'table' then
      redis.call('LREM', queue, 0, own)
      joined = redis.pcall('RPUSH', queue, own)
    end
    if type(joined) == 'table' then
      redis.pcall('ZREM', deadlines, own)
      return joined
    end
    head = head or own
  end
  local ends = redis.call('PTTL', deadlines)
  if ends < left + 43200000 then
    local latest = redis.call('ZRANGE', deadlines, -1, -1, 'WITHSCORES')[2]
    local kept = string.format('%.0f', math.max(latest - now, 0) + 86400000)
    redis.call('PEXPIRE', queue, kept)
    redis.call('PEXPIRE', deadlines, kept)
  end
end
if not free then
  return busy(ttl)
end
if turn > 0 then
  --@include shared/fair_due
  local send, base, payload, way = redis.pcall, ARGV[5], '0', ARGV[6]
  if due then
    --@include shared/fair_tell
  elseif deadline and deadline < now + 0.75 * turn then
    local channel = base .. ':' .. head
    --@include shared/tell
  end
end
return busy(math.max((deadline or now) - now, 1))
