-- SPDX-License-Identifier: Apache-2.0
-- shared/once_before: an operation that the server remembers is not carried out again: it gets the same reply once
-- more. It may be resent because its reply was lost, and would count twice.
-- reads  once: the key under which it is remembered; nil: it is not
if once then
  local before = redis.call('GET', once)
  if before then
    return tonumber(before)
  end
end
