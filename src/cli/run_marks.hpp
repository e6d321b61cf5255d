// What `holdfast run` keeps on the server besides its lock, for later runs: that the command has succeeded (`--fresh`),
// and that this firing was handled (`--at`).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>

#include "cli/options.hpp"

namespace holdfast::cli {

/// A mark is a key with an expiry that nobody waits for. Only the holder of the lock checks and sets it, so this
/// happens one run at a time. Used by one thread.
class RunMarks {
 public:
  /// What they refer to must outlive it.
  RunMarks(const RunOptions& options, const Client& client) : options_(options), client_(client) {}
  /// Releases a firing for which no command has begun.
  ~RunMarks();
  RunMarks(const RunMarks&) = delete;
  RunMarks& operator=(const RunMarks&) = delete;

  struct Skip {
    const char* option;  ///< Without its dashes.
    std::string why;
  };
  /// Right after the grant: why there is nothing to do. Empty: go ahead, and the firing is ours from now on. Throws
  /// Error.
  std::optional<Skip> reason_to_skip();
  /// The firing stays ours, whatever happens to the command.
  void command_begins() { begun_ = true; }
  /// The command could not be started after all.
  void command_never_began() { begun_ = false; }
  /// Call while the lock is still held. Empty: done. Otherwise why the mark may be missing.
  std::optional<std::string> command_succeeded();

 private:
  SimpleLock mark(std::string_view what) const;

  const RunOptions& options_;
  const Client& client_;
  std::optional<Hold> firing_;
  bool begun_ = false;
};

/// The name of a mark of this lock, in the slot of the lock unless that has a prefix and no hash tag.
std::string mark_name(std::string_view lock, std::string_view what);

}  // namespace holdfast::cli
