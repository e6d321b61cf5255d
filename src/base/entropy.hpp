// Where all chance comes from: ids and jitter.
#pragma once

#include <cstdint>

namespace holdfast::base {

/// 32 random bits from the system. Thread-safe.
std::uint32_t entropy();

/// From 0 to below 1, without the system's help for each: for jitter. Thread-safe.
double random_share();

}  // namespace holdfast::base
