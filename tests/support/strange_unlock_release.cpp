// SPDX-License-Identifier: Apache-2.0
// As in a program that is compiled with NDEBUG.
#undef NDEBUG
#define NDEBUG
#include "strange_unlock.hpp"

void holdfast::test::unlock_in_release(const BasicLock& lock) { lock.unlock(); }
