// Of which kind the lock of `holdfast run` is, by all its options that have a say in that.
#pragma once

#include "cli/options.hpp"

namespace holdfast::cli {

/// So many permits there can be.
inline constexpr int kMostPermits = 1'000'000;

struct KindWords {
  bool has_kind = false;  ///< `--kind`, which is in the options.
  bool fair = false;
  bool shared = false;
};

/// Sets the kind. Throws UsageError where options exclude each other.
void settle_kind(RunOptions& options, const KindWords& words);

}  // namespace holdfast::cli
