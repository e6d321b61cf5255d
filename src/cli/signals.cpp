// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <cerrno>
#include <cstring>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

namespace holdfast::cli {
namespace {

void set_disposition(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool was_ignored(int signal) {
  struct sigaction found{};
  sigaction(signal, nullptr, &found);
  return (found.sa_flags & SA_SIGINFO) == 0 && found.sa_handler == SIG_IGN;
}

}  // namespace

SignalGate::SignalGate() {
  for (Changed& changed : changed_) sigaction(changed.signal, nullptr, &changed.found);
  // A closed stderr must not end a holder, and a background job may write to its terminal and reclaim it.
  set_disposition(SIGPIPE, SIG_IGN);
  set_disposition(SIGTTOU, SIG_IGN);
  // If ignored, children would vanish without a status.
  set_disposition(SIGCHLD, SIG_DFL);

  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGCHLD);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT}) {
    if (!was_ignored(signal)) sigaddset(&taken, signal);
  }
  pthread_sigmask(SIG_BLOCK, &taken, &found_mask_);
  fd_ = Fd(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

std::optional<int> SignalGate::next() const {
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

void SignalGate::refuse_suspension() const { set_disposition(SIGTSTP, SIG_IGN); }

void SignalGate::hand_back() const noexcept {
  for (const Changed& changed : changed_) sigaction(changed.signal, &changed.found, nullptr);
  sigprocmask(SIG_SETMASK, &found_mask_, nullptr);
}

bool SignalGate::is_ending(int signal) noexcept {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

void SignalGate::die_of(int signal) noexcept {
  // The signal was meant for the command too, which may have left a core dump; one of ours would be useless.
  prctl(PR_SET_DUMPABLE, 0);
  set_disposition(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  _exit(128 + signal);
}

void SignalGate::signal_own_group(int signal) noexcept { kill(0, signal); }

const char* SignalGate::name(int signal) noexcept {
  switch (signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    case SIGQUIT:
      return "SIGQUIT";
    case SIGKILL:
      return "SIGKILL";
    case SIGUSR1:
      return "SIGUSR1";
    case SIGUSR2:
      return "SIGUSR2";
    default:
      return strsignal(signal);
  }
}

}  // namespace holdfast::cli
