// SPDX-License-Identifier: Apache-2.0
// unlock() as it is compiled into a user's release and debug builds, whichever of them the tests are.
#pragma once

#include <holdfast/lock.hpp>

namespace holdfast::test {

void unlock_in_release(const BasicLock& lock);
void unlock_in_debug(const BasicLock& lock);

}  // namespace holdfast::test
