// SPDX-License-Identifier: Apache-2.0
// Identities: the client's UUID, owner numbers, and threads without their recycled system ids.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::base {

/// A UUID of this version, lower case with hyphens, from the system's random source: 4 means random, 8 means that its
/// maker defines the meaning.
std::string make_uuid(unsigned version = 4);

/// A number that no earlier call in this process returned; starts at 1.
std::uint64_t next_number() noexcept;

/// A number for the calling thread that no other thread of this process ever had or will have.
std::uint64_t this_thread_number() noexcept;

}  // namespace holdfast::base
