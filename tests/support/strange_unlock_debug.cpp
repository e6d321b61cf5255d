// SPDX-License-Identifier: Apache-2.0
// As in a program that is compiled without NDEBUG.
#undef NDEBUG
#include "strange_unlock.hpp"

void holdfast::test::unlock_in_debug(const BasicLock& lock) { lock.unlock(); }
