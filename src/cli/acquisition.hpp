// Taking the lock in a thread of its own, so that the main thread can obey signals meanwhile.
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

/// Whether to ask who has the lock. Both functions are called from the thread that waits.
struct AskHolder {
  /// Asks for at most this long; empty: no answer in that time.
  std::function<std::optional<std::vector<LockInfo>>(std::chrono::milliseconds limit)> ask;
  /// Before waiting, if set and if somebody has it. What it throws ends the wait as its failure.
  std::function<void(const std::vector<LockInfo>&)> before;
  bool after = false;  ///< After having waited in vain.
};

/// What is done first at each attempt, if anything: within this time, or until the stop. What it throws is what an
/// acquire would have thrown.
using Prepare = std::function<void(std::chrono::milliseconds limit, const std::stop_token& stop)>;

/// What is done about servers that have never been reached. The functions are called from the thread that waits.
struct Perseverance {
  std::chrono::milliseconds limit{};     ///< How long they are tried, from the start on; zero: once.
  std::chrono::milliseconds patience{};  ///< With one that is silent.
  std::function<bool()> reached;
  /// Before it is tried again for the first time, for this long at most.
  std::function<void(const Error& why, std::chrono::milliseconds left)> tell;
};

struct AcquisitionResult {
  std::optional<Hold> hold;
  /// Without a hold: why. Errc::busy, timed_out and cancelled are the ordinary reasons.
  std::exception_ptr failure;
  std::optional<LockInfo> holder;  ///< Who had it, if asked and if somebody had.
  base::Duration waited{};
};

/// Starts at construction; the destructor stops it and waits for its end. Used by one thread.
class Acquisition {
 public:
  Acquisition(BasicLock lock, AcquireOptions options, Prepare prepare, AskHolder ask, Perseverance perseverance);
  ~Acquisition() { stop(); }

  /// Readable when it is over, until done() has said so.
  int done_fd() const { return done_.get(); }
  bool done() const { return done_.take(); }
  /// Ends the wait; nothing is left on the server. Does not wait for the end.
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
  bool told_ = false;  // that it is tried again
  std::stop_source stop_;
  EventFd done_;
  AcquisitionResult result_;  // the worker's until it has ended
  std::jthread worker_;
};

}  // namespace holdfast::cli
