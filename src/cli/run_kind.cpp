#include "cli/run_kind.hpp"

#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

LockKind kind_of(const RunOptions& options, const KindWords& words) {
  if (words.has_kind && options.kind == LockKind::permit) {
    throw UsageError("run: say how many may run at the same time: --max N, in place of --kind permit");
  }
  if (options.max) {
    if (words.has_kind || words.fair || words.shared || options.any) {
      throw UsageError("run: --max excludes --kind, --fair, --shared and --any");
    }
    return LockKind::permit;
  }
  if (words.shared) {
    if (words.has_kind && options.kind != LockKind::write) {
      throw UsageError("run: --shared is for read-write locks: it goes with --kind read-write, or without --kind");
    }
    if (words.fair) throw UsageError("run: --fair is short for --kind fair, and excludes other kinds");
    return LockKind::read;
  }
  if (words.fair) {
    if (options.kind != LockKind::fair && options.kind != LockKind::lock) {
      throw UsageError("run: --fair is short for --kind fair, and excludes other kinds");
    }
    return LockKind::fair;
  }
  return options.kind;
}

}  // namespace

void settle_kind(RunOptions& options, const KindWords& words) {
  if (options.max && *options.max == 0) throw UsageError("run: --max 0 would let none run");
  options.kind = kind_of(options, words);
  if (!options.fresh && !options.at) return;
  // Concurrent holders would all find that it has not been done.
  if (options.kind == LockKind::permit || options.kind == LockKind::read) {
    throw UsageError("run: --fresh and --at are for a lock that one has at a time: not with --max or --shared");
  }
  if (options.any || options.names.size() > 1) throw UsageError("run: --fresh and --at are for one name");
}

}  // namespace holdfast::cli
