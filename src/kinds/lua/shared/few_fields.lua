-- SPDX-License-Identifier: Apache-2.0
-- shared/few_fields: some fields of a large hash, however large it is. HSCAN gives all of one that is stored as a list.
-- reads  key
-- sets   few: eight of its fields, or fewer, as HGETALL gives them; empty: not permitted
local few = {}
do
  local seen = redis.pcall('HSCAN', key, 0, 'COUNT', 8)[2] or {}
  for i = 1, math.min(#seen, 16) do
    few[i] = seen[i]
  end
end
