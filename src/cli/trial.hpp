// SPDX-License-Identifier: Apache-2.0
// Takes and releases a real lock, to check that this works.
#pragma once

#include <string>

#include <holdfast/config.hpp>
#include <holdfast/probe.hpp>

namespace holdfast::cli {

/// Takes the lock of this name, has a second client wait for it, and releases it. If it is held, it is left alone, and
/// that is the finding. The finding names no node. Never throws for a server's faults. At most 10 s.
Finding try_lock(const Config& config, const std::string& name);

}  // namespace holdfast::cli
