// Identities: the client's UUID, owner numbers, and threads without their recycled system ids.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::base {

/// A random UUID version 4, lower case with hyphens (protocol section 1.3), from the system's random source.
std::string make_uuid();

/// A number that no earlier call in this process returned; starts at 1.
std::uint64_t next_number() noexcept;

/// A number for the calling thread that no other thread of this process ever had or will have.
std::uint64_t this_thread_number() noexcept;

}  // namespace holdfast::base
