// SPDX-License-Identifier: Apache-2.0
// What is never the same twice: chance, and numbers of owners and threads (the system's own ids are used again).
#pragma once

#include <cstdint>

namespace holdfast::base {

/// 32 random bits from the system. Thread-safe.
std::uint32_t entropy();

/// From 0 to below 1, without a system call each time: for jitter. Thread-safe.
double random_share();

/// A number that no earlier call in this process returned; starts at 1.
std::uint64_t next_number() noexcept;

/// A number for the calling thread that no other thread of this process ever had or will have.
std::uint64_t this_thread_number() noexcept;

}  // namespace holdfast::base
