-- SPDX-License-Identifier: Apache-2.0
-- shared/fair_sweep: removes from the head of a fair lock's queue those whose deadline is over, by the server's clock
-- (protocol 7).
-- reads  queue, deadlines: their keys
-- sets   now: ms since 1970; head: the next waiter, nil: none; deadline: until when, in such ms, nil: it has none
--        broken: what the server says if one of the keys is of another type, or not permitted
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local head, deadline, broken
repeat
  local over = false
  head, deadline = redis.pcall('LINDEX', queue, 0) or nil, nil
  if type(head) == 'table' then
    head, broken = nil, head
  elseif head then
    local score = redis.pcall('ZSCORE', deadlines, head)
    if type(score) == 'table' then
      broken = score
    elseif score then
      deadline = tonumber(score)
      over = deadline <= now
    end
  end
  if over then
    redis.call('ZREM', deadlines, head)
    redis.call('LPOP', queue)
  end
until not over
