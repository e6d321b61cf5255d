-- SPDX-License-Identifier: Apache-2.0
-- shared/fair_due: a fair lock is free, so the next waiter has a turn from now on. Redisson's waiters have
-- written themselves another deadline, which stays, but is no more than Redisson's turn.
-- reads  deadlines, head, now; turn: in ms, 0: it stays as it is; theirs: Redisson's
-- reads and sets  deadline: until when the next waiter keeps its place; nil: it has none
-- sets   due: whether that is earlier than before
local due = false
if head and turn > 0 then
  local redissons = deadline and string.find(head, '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-[^8]')
  local latest = now + (redissons and theirs or turn)
  if not deadline or deadline > latest then
    due = type(redis.pcall('ZADD', deadlines, latest, head)) ~= 'table'
    deadline = due and latest or deadline
  end
end
