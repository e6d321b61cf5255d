// A small process that ends the command when the tool itself cannot, because it was killed or no longer runs.
#pragma once

#include <optional>
#include <sys/types.h>

#include "base/clock.hpp"
#include "cli/fd.hpp"

namespace holdfast::cli {

/// Lives beside the command, from before its start to its end. It sends SIGKILL to the command's process group
/// - when the tool is gone (the kernel does that only for the command, not for processes that it has started);
/// - when the time given by must_end_by() is over and the tool, stopped or starved, has neither extended it nor acted.
/// Used by the main thread.
class Guard {
 public:
  /// Throws std::system_error.
  Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  /// Dismisses it, and waits for its end.
  ~Guard();
  /// Ends it without waiting; the command must have ended.
  void dismiss() const noexcept;

  /// Readable when the guard has ended, which only another process can cause; -1 when there is none.
  int fd() const { return words_.get(); }
  bool stands() const noexcept;
  /// Starts a new guard, which does not know the group or the time yet. Throws std::system_error, and then there is
  /// none.
  void replace();

  /// For the command's process, before it becomes the command: puts its group under guard. Async-signal-safe.
  void watch_group(pid_t group) const noexcept;
  /// Empty: no limit.
  void must_end_by(std::optional<base::TimePoint> time) const noexcept;

 private:
  void start();

  pid_t pid_ = -1;
  Fd words_;  // the write end; when it closes, the guard assumes that the tool has ended
};

}  // namespace holdfast::cli
