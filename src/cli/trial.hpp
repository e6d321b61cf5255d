// A real lock, taken and given back, to see whether that works.
#pragma once

#include <string>

#include <holdfast/config.hpp>
#include <holdfast/probe.hpp>

namespace holdfast::cli {

/// Takes the lock of this name, has a second client wait for it, and gives it back. From nobody who has it: then that
/// is all that is found. The finding names no node. Never throws for a server's faults. At most 10 s.
Finding try_lock(const Config& config, const std::string& name);

}  // namespace holdfast::cli
