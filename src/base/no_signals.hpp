// A stretch in which the calling thread runs no signal handler.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace holdfast::base {

/// For threads of ours that no handler of the user's may hold up, and for the moments in which a caller works for all.
/// What a thread does to itself (SIGSEGV and the like) stays as it is.
class NoSignals {
 public:
  NoSignals() noexcept { pthread_sigmask(SIG_BLOCK, &all(), &before_); }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

  /// What was held back before; for a wait in which handlers may run.
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
