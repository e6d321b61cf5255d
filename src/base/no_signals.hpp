// SPDX-License-Identifier: Apache-2.0
// A scope in which the calling thread runs no signal handler.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace holdfast::base {

/// For our own threads, which no handler of the user's may delay, and while a caller does work for others. Signals that
/// a thread causes itself (SIGSEGV and similar) are not blocked.
class NoSignals {
 public:
  NoSignals() noexcept { pthread_sigmask(SIG_BLOCK, &all(), &before_); }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

  /// The signal mask from before; for a wait during which handlers may run.
  const sigset_t& before() const { return before_; }

 private:
  static const sigset_t& all() noexcept {
    static const sigset_t set = [] {
      sigset_t made;
      sigfillset(&made);
      for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&made, own);
      return made;
    }();
    return set;
  }

  sigset_t before_{};
};

}  // namespace holdfast::base
