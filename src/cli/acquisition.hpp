// Takes the lock in a thread of its own, so that the main thread can handle signals meanwhile.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/lock.hpp>

#include "cli/fd.hpp"

namespace holdfast::cli {

/// Whether to query the holder. Both functions are called from the waiting thread.
struct AskHolder {
  /// Asks for at most this long; empty: no answer in that time.
  std::function<std::optional<std::vector<LockInfo>>(std::chrono::milliseconds limit)> ask;
  /// Called before waiting, if set and if somebody has the lock. An exception ends the wait as its failure.
  std::function<void(const std::vector<LockInfo>&)> before;
  bool after = false;  ///< Query it after a failed wait.
};

/// Runs before each attempt, if set: within this time, or until the stop. An exception counts as one of the acquire.
using Prepare = std::function<void(std::chrono::milliseconds limit, const std::stop_token& stop)>;

/// How to deal with servers that have never been reached. The functions are called from the waiting thread.
struct Perseverance {
  std::chrono::milliseconds limit{};     ///< How long to retry, from the start on; zero: try once.
  std::chrono::milliseconds patience{};  ///< With a silent server.
  std::function<bool()> reached;
  /// Called before the first retry; `left`: how long it will retry at most.
  std::function<void(const Error& why, std::chrono::milliseconds left)> tell;
};

struct AcquisitionResult {
  std::optional<Hold> hold;
  /// Why there is no hold. Errc::busy, timed_out and cancelled are the ordinary reasons.
  std::exception_ptr failure;
  std::optional<LockInfo> holder;  ///< Who had it, if queried and if somebody had.
  base::Duration waited{};
};

/// Starts at construction; the destructor stops it and waits for its end. Used by one thread.
class Acquisition {
 public:
  Acquisition(const BasicLock& lock, AcquireOptions options, Prepare prepare, AskHolder ask, Perseverance perseverance);
  ~Acquisition() { stop(); }

  /// Readable when it is over, until done() has returned true.
  int done_fd() const { return done_.get(); }
  bool done() const { return done_.take(); }
  /// Ends the wait and leaves nothing on the server. Does not wait for the end.
  void stop() { stop_.request_stop(); }
  /// Waits for the end.
  AcquisitionResult take();

 private:
  void work(const BasicLock& lock, const AcquireOptions& options, const AskHolder& ask);
  /// True once `result_` says how it ended.
  bool try_once(const BasicLock& lock, AcquireOptions options, const AskHolder& ask);
  bool may_be_tried_again(const Error& error);
  void pause(std::chrono::milliseconds time) const;

  const Prepare prepare_;
  const Perseverance perseverance_;
  const base::TimePoint start_ = base::Clock::now();
  bool told_ = false;  // that it retries
  std::stop_source stop_;
  EventFd done_;
  AcquisitionResult result_;  // the worker's until it has ended
  std::jthread worker_;
};

}  // namespace holdfast::cli
