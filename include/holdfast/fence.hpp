// Rejects writes that carry an old token, for a store inside this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include <holdfast/detail/standard.hpp>

namespace holdfast {

/// A store checks this before each write: it admits a token that is not lower than the highest seen so far, and
/// remembers it. An equal token is of the same grant. Use one Fence per lock name. It is not persistent: a store that
/// outlives the process must keep the highest token beside its data (docs/fencing.md).
///
/// Thread-safe, and never blocks. Admitting is not writing: two writers with different tokens may both be admitted and
/// then write in either order, so check and write under one mutex, or with one statement of the store.
class Fence {
 public:
  Fence() = default;
  /// Starts from this token, as the store had kept it.
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
