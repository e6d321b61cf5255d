-- SPDX-License-Identifier: Apache-2.0
-- shared/give_back: releases those of several locks that an owner has, and wakes a waiter of each.
-- reads  KEYS[i] lock   ARGV[1] owner   ARGV[1+i] channel of KEYS[i]   behind them the way of shared/tell, if it is not
--        PUBLISH
-- sets   released: how many; heard: how many clients were notified; refused: an error of a write or a message that was
--        refused; nil: there was none
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
