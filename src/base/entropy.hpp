// SPDX-License-Identifier: Apache-2.0
// The source of all randomness: ids and jitter.
#pragma once

#include <cstdint>

namespace holdfast::base {

/// 32 random bits from the system. Thread-safe.
std::uint32_t entropy();

/// From 0 to below 1, without a system call each time: for jitter. Thread-safe.
double random_share();

}  // namespace holdfast::base
