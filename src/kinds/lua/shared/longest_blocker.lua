-- SPDX-License-Identifier: Apache-2.0
-- shared/longest_blocker: KEYS[i] is taken, and ttl is what PTTL says of it. Of several that are taken, remembers one
-- that stays longest; -1, no expiry, is longer than any time.
-- reads and sets  blocker, longest: at first 0 and -2
if blocker == 0 or ttl == -1 or (longest ~= -1 and ttl > longest) then
  blocker, longest = i, ttl
end
