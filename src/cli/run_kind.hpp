// Determines the kind of lock of `holdfast run` from all options that affect it.
#pragma once

#include "cli/options.hpp"

namespace holdfast::cli {

/// The limit on the number of permits.
inline constexpr int kMostPermits = 1'000'000;

struct KindWords {
  bool has_kind = false;  ///< `--kind`, which is in the options.
  bool fair = false;
  bool shared = false;
};

/// Sets the kind. Throws UsageError where options exclude each other.
void settle_kind(RunOptions& options, const KindWords& words);

}  // namespace holdfast::cli
