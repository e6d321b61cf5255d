-- SPDX-License-Identifier: Apache-2.0
-- shared/first_key: goes before a script with several keys, of which only the first is named to the server: a cluster's
-- node refuses a script while not all keys that it names are there, and for keys that are nowhere that lasts as long as
-- their slot moves. Only sent where the others can be nowhere else (redis/decide/redirect.hpp).
-- KEYS[1] the first key   ARGV[] those of the script; the other keys; how many those are
-- sets   KEYS, ARGV: as the script would have them
local KEYS, others = {KEYS[1]}, tonumber(table.remove(ARGV))
for i = others, 1, -1 do
  KEYS[1 + i] = table.remove(ARGV)
end
