// A file that refuses the writes of old lock holders. Not part of holdfast.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/export.hpp>

namespace holdfast {

/// A file that carries the token of whoever wrote it, in its first line; the contents follow. It is replaced as a
/// whole, and only by a token that is not lower, so a holder of a FencedLock that has lost the lock and does not know
/// yet cannot overwrite its successor (docs/fencing.md, which has the same in a few lines of shell: both can be used on
/// one file).
///
/// Check and replacement are one step among all processes that use the same path on one machine, by an flock on
/// `PATH.lock`; on a shared file system as far as that locks across machines. Readers need no lock: they see the old
/// file or the new one. Thread-safe. Blocks while another writer replaces it.
class HOLDFAST_EXPORT FencedFile {
 public:
  struct Contents {
    std::int64_t token = 0;
    std::string text{};
  };

  /// Nothing is opened yet. `PATH.lock` and, for a moment, `PATH.new` are beside it.
  explicit FencedFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Writes the new file to the disk, then renames it over the old one. False, and nothing has changed: what is there
  /// has a higher token. Throws std::system_error if the file cannot be written, std::runtime_error if there is one
  /// whose first line is no token; nothing has changed then either.
  [[nodiscard]] bool replace(std::int64_t token, std::string_view text) const;
  /// Empty: there is no file. Throws as replace().
  std::optional<Contents> read() const;

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast
