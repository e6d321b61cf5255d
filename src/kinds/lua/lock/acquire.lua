-- SPDX-License-Identifier: Apache-2.0
-- lock/acquire: take the lock for one owner, or say how long it is taken (protocol 6.1, transition 1; 6.4 with a counter).
-- KEYS[1] lock   KEYS[2] of a fenced lock: the counter of its tokens
--            ARGV[1] lease in ms, > 0   ARGV[2] owner   ARGV[3] channel, if listeners are to be counted;
--            ARGV[4] how: SHARDNUMSUB; none: NUMSUB   ARGV[5] way of shared/tell, if they are to hear that it is busy
-- returns    nil: granted; with a counter the list -1, the new token; else the remaining time to live in ms, -1 if
--            the key has none; with a channel the list 1, that time, how many listen on the channel (-1: not permitted),
--            who has it (if permitted); an error, WRONGTYPE, if something other than a lock is there: if this may not be
--            queried, it counts as taken
-- publishes  with ARGV[5], if it is taken: on the channel, minus the remaining time to live in ms. Redisson's waiters
--            pass over all numbers but 0 and 1
-- retry      idempotent: the same owner again sets the same field and the lease again; its token is a newer one
-- pairs with Redisson lock(), tryLock(); pcall, so that where the expiry is refused nothing without an expiry stays.
--            Why a counter does not grow is seen by its value, since each server has its own words for that
local ttl = redis.call('PTTL', KEYS[1])
local mine = ttl == -2 or redis.pcall('HEXISTS', KEYS[1], ARGV[2])
if mine == 0 or type(mine) == 'table' then
  local key = KEYS[1]
  --@include shared/lock_form
  if other then
    return redis.error_reply('WRONGTYPE it is ' .. other)
  end
  if mine ~= 0 then
    return mine
  end
  if not ARGV[3] then
    return ttl
  end
  local listeners = redis.pcall('PUBSUB', ARGV[4] or 'NUMSUB', ARGV[3])
  if ARGV[5] and ttl > 0 then
    local send, channel, payload, way = redis.pcall, ARGV[3], '-' .. ttl, ARGV[5]
    --@include shared/tell
  end
  return {1, ttl, listeners[2] or -1, held and held[1]}
end
local token
if KEYS[2] then
  token = redis.pcall('INCR', KEYS[2])
  if type(token) == 'table' then
    local value = redis.pcall('GET', KEYS[2])
    local digits = type(value) == 'string' and (string.match(value, '^%-?([1-9]%d*)$') or value == '0' and value)
    local grows = digits and (#digits < 19 or #digits == 19 and digits < '9223372036854775807')
    if type(value) == 'string' and not grows or string.find(token.err, 'WRONGTYPE', 1, true) then
      return redis.error_reply('WRONGTYPE it is a fenced lock whose counter of tokens cannot grow')
    end
    return token
  end
end
redis.call('HSET', KEYS[1], ARGV[2], 1)
local expiry = redis.pcall('PEXPIRE', KEYS[1], ARGV[1])
if type(expiry) == 'table' then
  if redis.pcall('HDEL', KEYS[1], ARGV[2]) ~= 1 then
    redis.call('DEL', KEYS[1])
  end
  return expiry
end
return token and {-1, token}
