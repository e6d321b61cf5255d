// Refuses what comes with an old token, for a store inside this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include <holdfast/detail/standard.hpp>

namespace holdfast {

/// What a store asks before each write: admits a token that is at least the highest that it has seen, and remembers it.
/// An equal one is of the same grant. One Fence for each lock's name. It forgets with the process: a store that
/// outlives it keeps the highest token beside its data (docs/fencing.md).
///
/// Thread-safe, and never blocks. To admit is not to write: two writers with different tokens that are both admitted
/// may write in either order, so check and write under one mutex, or with one statement of the store.
class Fence {
 public:
  Fence() = default;
  /// Knows already that this token was seen: the one that a store had kept.
  explicit Fence(std::int64_t highest) noexcept : highest_(highest) {}
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  /// False, and nothing has changed, if a higher token was admitted before.
  [[nodiscard]] bool admit(std::int64_t token) noexcept {
    std::int64_t seen = highest_.load();
    while (token > seen) {
      if (highest_.compare_exchange_weak(seen, token)) return true;
    }
    return token == seen;
  }

  /// The highest token that was admitted; the lowest number that there is, if none was.
  std::int64_t highest() const noexcept { return highest_.load(); }

 private:
  std::atomic<std::int64_t> highest_{std::numeric_limits<std::int64_t>::min()};
};

}  // namespace holdfast
