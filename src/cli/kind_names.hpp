// The kinds of locks as `--kind` and --json name them.
#pragma once

#include <optional>
#include <string_view>

#include "cli/options.hpp"

namespace holdfast::cli {

/// Empty: there is none of this name.
std::optional<LockKind> kind_named(std::string_view name);
/// A reader and a writer are of one kind.
const char* name_of(LockKind kind);

}  // namespace holdfast::cli
