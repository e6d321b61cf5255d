// Where all chance comes from: ids and jitter.
#pragma once

#include <cstdint>

namespace holdfast::base {

/// 32 random bits from the system. Thread-safe.
std::uint32_t entropy();

}  // namespace holdfast::base
