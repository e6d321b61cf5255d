// SPDX-License-Identifier: Apache-2.0
// What refuses a late writer by its fencing token: in memory, and a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/detail/standard.hpp>
#include <holdfast/export.hpp>

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

/// A file with its writer's token in the first line; the contents follow. It is replaced as a whole, and only with a
/// token that is not lower, so a holder of a FencedLock that has lost the lock without noticing cannot overwrite its
/// successor's file (docs/fencing.md, which has the same in a few lines of shell: both can be used on one file).
///
/// An flock on `PATH.lock` makes check and replacement one step for all processes that use the same path on one
/// machine; on a shared file system, as far as flock works across machines there. Readers need no lock: they see the
/// old file or the new one. Thread-safe. Blocks while another writer replaces it. fork(): a child that is forked
/// meanwhile has no part in the lock.
class HOLDFAST_EXPORT FencedFile {
 public:
  struct Contents {
    std::int64_t token = 0;
    std::string text{};
  };

  /// Opens nothing yet. Writing creates `PATH.lock` and, for a moment, `PATH.new` beside it.
  explicit FencedFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Writes the new file to the disk, then renames it over the old one. Returns false and changes nothing if the file
  /// there has a higher token. Throws std::system_error if the file cannot be written, std::runtime_error if the first
  /// line of the file there is not a token; nothing is changed then either. Only a disk that fails in the last step, in
  /// which the rename is made durable, also throws std::system_error: read() finds the new file then.
  [[nodiscard]] bool replace(std::int64_t token, std::string_view text) const;
  /// Empty: there is no file. Throws as replace().
  std::optional<Contents> read() const;

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast
