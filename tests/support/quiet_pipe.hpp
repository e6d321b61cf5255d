// SPDX-License-Identifier: Apache-2.0
// Writing to a peer that is gone, without being killed for it.
#pragma once

#include <csignal>
#include <ctime>

namespace holdfast::test {

/// While it lives, a write of this thread to a closed pipe or socket fails with EPIPE and raises no SIGPIPE. The
/// signal is not ignored for the whole process: that would hide a library that relies on its user to do so.
class QuietPipe {
 public:
  QuietPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  QuietPipe(const QuietPipe&) = delete;
  QuietPipe& operator=(const QuietPipe&) = delete;
  ~QuietPipe() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now{};
    while (sigtimedwait(&pipe_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace holdfast::test
