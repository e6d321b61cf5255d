// `hold_for`: increments under a lock, with a line in a record for each hold, as a taker carries them out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "taker_command.hpp"
#include "taker_text.hpp"

namespace holdfast::test {

/// Microseconds of the clock that all processes of a machine share.
inline long long shared_clock() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count();
}

/// A number in a file, in digits of fixed width: a reader sees all of it or the one before.
class NumberFile {
 public:
  explicit NumberFile(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), path);
  }
  NumberFile(const NumberFile&) = delete;
  NumberFile& operator=(const NumberFile&) = delete;
  ~NumberFile() { close(fd_); }

  long long read() const {
    char text[kWidth + 1]{};
    const ssize_t length = pread(fd_, text, kWidth, 0);
    return length <= 0 ? 0 : std::atoll(text);
  }
  void write(long long number) const {
    char text[kWidth + 1];
    std::snprintf(text, sizeof text, "%0*lld\n", kWidth - 1, number);
    if (pwrite(fd_, text, kWidth, 0) != kWidth) throw std::system_error(errno, std::generic_category(), "pwrite");
  }

 private:
  static constexpr int kWidth = 20;
  int fd_;
};

/// The rounds of one thread: wait for the lock, read the number, pause, write it back plus 1 unless told that the lock
/// is lost, release.
class TakerRounds {
 public:
  /// The arguments of `hold_for` in `command`. `stop` ends the rounds, and a wait.
  TakerRounds(BasicLock lock, const TakerCommand& command, std::stop_token stop)
      : lock_(std::move(lock)),
        name_(command.argument(1)),
        numbers_(command.argument(2)),
        time_(command.number(3)),
        record_(command.argument(4), std::ios::app),
        pause_(command.count() > 5 ? command.number(5) : 0),
        stop_(std::move(stop)) {
    options_.wait = Milliseconds(command.count() > 6 ? command.number(6) : 30000);
    options_.stop = stop_;
  }

  /// How many numbers were written.
  long long run() {
    const auto end = std::chrono::steady_clock::now() + time_;
    long long written = 0;
    while (std::chrono::steady_clock::now() < end && !stop_.stop_requested()) written += round() ? 1 : 0;
    return written;
  }

 private:
  using Milliseconds = std::chrono::milliseconds;

  /// True if a number was written.
  bool round() {
    const long long called = shared_clock();
    try {
      Hold hold = lock_.acquire(options_);
      return use(hold, called);
    } catch (const Error& error) {
      if (error.code() == Errc::cancelled) return false;
      write({"fail", name_, number(called), number(shared_clock()), error.code().message() + ": " + error.cause()});
      std::this_thread::sleep_for(Milliseconds(10));
      return false;
    }
  }

  bool use(Hold& hold, long long called) {
    const long long granted = shared_clock();
    std::atomic<long long> told{0};
    long long deadline = 0;
    const long long value = numbers_.read() + 1;
    {
      const std::stop_callback when_told(hold.lost(), [&] { told = shared_clock(); });
      const auto end = std::chrono::steady_clock::now() + pause_;
      while (still_valid(hold, deadline) && std::chrono::steady_clock::now() < end && !stop_.stop_requested()) {
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now(), kCheck));
      }
    }
    const bool writes = still_valid(hold, deadline);
    if (writes) numbers_.write(value);
    const std::string owner = hold.owner();
    const long long released = shared_clock();
    const std::string outcome = to_string(hold.release());
    const auto reason = hold.loss_reason();
    write({"hold", name_, owner, number(called), number(granted), number(deadline), number(told), number(released),
           number(shared_clock()), outcome, reason ? to_string(*reason) : "-", number(writes ? value : 0)});
    return writes;
  }

  /// Moves the deadline on while the hold stands. Valid times are rounded down, hence one more millisecond.
  static bool still_valid(const Hold& hold, long long& deadline) {
    const long long now = shared_clock();
    const Milliseconds valid = hold.valid_for();
    if (valid.count() > 0) deadline = now + 1000 * (valid.count() + 1);
    return valid.count() > 0;
  }

  static std::string number(long long value) { return std::to_string(value); }
  void write(const std::vector<std::string>& fields) { record_ << join_fields(fields) + '\n' << std::flush; }

  static constexpr std::chrono::milliseconds kCheck{5};

  BasicLock lock_;
  const std::string name_;
  const NumberFile numbers_;
  const Milliseconds time_;
  std::ofstream record_;
  const Milliseconds pause_;
  const std::stop_token stop_;
  AcquireOptions options_;
};

}  // namespace holdfast::test
