// Finds out what kind of lock a name belongs to, after a look at it as another kind was refused.
#pragma once

#include <optional>
#include <string>

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>

#include "cli/options.hpp"

namespace holdfast::cli {

/// `refusal`: what a look at it as a plain lock got. Empty: it is no lock, or one cannot tell, as with a number, which
/// may be a semaphore or a latch. Costs up to two queries, only of strings. Throws Error.
std::optional<LockKind> kind_of(const Client& client, const std::string& name, const Error& refusal);

}  // namespace holdfast::cli
