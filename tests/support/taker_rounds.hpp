// SPDX-License-Identifier: Apache-2.0
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
#include <map>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "shared_clock.hpp"
#include "taker_command.hpp"
#include "taker_face.hpp"
#include "taker_leader.hpp"
#include "taker_locks.hpp"
#include "taker_record.hpp"
#include "taker_releases.hpp"
#include "taker_thread.hpp"
#include "taker_way.hpp"

namespace holdfast::test {

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
/// is lost, release. Without checks, it writes and is told nothing. Who shares the lock with others writes nothing. Of
/// any one of several locks, each has a number of its own.
class TakerRounds {
 public:
  /// The arguments of `hold_for` in `command`. `stop` ends the rounds, and a wait. With `releases` a release does not
  /// wait for the server.
  TakerRounds(TakerFace& face, TakerLocks& locks, TakerThread& thread, std::shared_ptr<TakerReleases> releases,
              const TakerCommand& command, std::stop_token stop)
      : face_(face),
        locks_(locks),
        thread_(thread),
        releases_(std::move(releases)),
        name_(command.argument(1)),
        key_(TakerLocks::key_of(name_)),
        any_(locks.is_any(name_)),
        shared_(locks.is_shared(name_)),
        time_(command.number(3)),
        record_(std::make_shared<TakerRecord>(command.argument(4))),
        pause_(command.count() > 5 ? command.number(5) : 0),
        way_(command, 7),
        stop_(std::move(stop)) {
    options_.wait = Milliseconds(command.count() > 6 ? command.number(6) : 30000);
    options_.lease = way_.lease;
    const std::vector<std::string> keys = any_ ? split_list(key_) : std::vector{key_};
    const std::vector<std::string> files = any_ ? split_list(command.argument(2)) : std::vector{command.argument(2)};
    for (std::size_t i = 0; i < keys.size(); ++i) numbers_.try_emplace(keys[i], files.at(i));
  }

  /// How many numbers were written.
  long long run() {
    const auto end = std::chrono::steady_clock::now() + time_;
    long long written = 0;
    make_permits();
    if (way_.campaigns) {
      written = campaign();
    } else {
      while (std::chrono::steady_clock::now() < end && !stop_.stop_requested()) written += round() ? 1 : 0;
    }
    const auto all_told = [&] { return record_.use_count() == 1; };
    for (int i = 0; i < 30000 && !all_told(); ++i) std::this_thread::sleep_for(Milliseconds(1));
    return written;
  }

 private:
  using Milliseconds = std::chrono::milliseconds;
  using Fields = std::vector<std::string>;

  /// True if a number was written.
  bool round() {
    std::stop_source given_up;
    const std::stop_callback when_stopped(stop_, [&] { given_up.request_stop(); });
    options_.stop = given_up.get_token();
    std::optional<TakerAbandon> abandon;
    if (one_of(way_.abandon_every)) abandon.emplace(given_up, up_to(Milliseconds(20)));
    const long long called = shared_clock();
    try {
      const bool entered = face_.enter(locks_, thread_, name_, options_);
      abandon.reset();
      if (!entered) {
        fail(called, options_.wait->count() == 0 ? "busy" : "timed_out", "held by somebody else");
        return false;
      }
      return use(called);
    } catch (const Error& error) {
      fail(called, error);
      return false;
    }
  }

  /// The rounds are the terms of a Leader, who stands again by himself: a call begins where the term before ended, and
  /// what becomes of a release is not known.
  long long campaign() {
    std::stop_source over;
    const std::stop_callback when_stopped(stop_, [&] { over.request_stop(); });
    const TakerAbandon in_time(over, time_);
    Leader leader(locks_.client().fenced_lock(name_, {.lease = way_.lease}));
    options_.wait.reset();
    long long written = 0, called = shared_clock();
    const auto failed = [&](const Error& error) {
      fail(called, error);
      called = shared_clock();
    };
    const auto body = [&](const Term& term) {
      std::optional<Milliseconds> steps_down;
      if (one_of(way_.abandon_every)) steps_down = up_to(Milliseconds(20));
      thread_.terms[name_] = std::make_shared<CampaignTerm>(leader, term, over.get_token(), steps_down);
      written += use(called) ? 1 : 0;
      called = shared_clock();
    };
    while (!over.stop_requested()) {
      try {
        leader.campaign(body, {.stop = over.get_token(), .rest = Milliseconds(2), .on_trouble = failed});
      } catch (const Error& error) {
        failed(error);
      }
    }
    return written;
  }

  void fail(long long called, const Error& error) {
    fail(called, error_word(error.code()), error.code().message() + ": " + error.cause());
  }
  void fail(long long called, const std::string& word, const std::string& cause) {
    Fields line{"fail", key_, number(called), number(shared_clock()), cause, wait(), "word=" + word, shared()};
    if (any_) line.push_back(set());
    record_->write(line);
    if (word == "cancelled") return;
    std::this_thread::sleep_for(Milliseconds(10));
    make_permits();
  }

  /// A server that has lost its data has no semaphore.
  void make_permits() const {
    if (way_.permits == 0) return;
    try {
      std::ignore = locks_.client().leased_semaphore(name_).init(way_.permits);
    } catch (const Error&) {
      // Whoever fails next tries again.
    }
  }

  bool one_of(int every) { return every > 0 && random_() % static_cast<unsigned>(every) == 0; }
  Milliseconds up_to(Milliseconds most) { return Milliseconds(random_() % static_cast<unsigned>(most.count() + 1)); }

  bool use(long long called) {
    const long long granted = shared_clock();
    std::atomic<long long> told{0};
    long long deadline = 0;
    const std::string owner = face_.owner(locks_, thread_, name_);
    const std::string key = any_ ? face_.granted(thread_, name_) : key_;
    const NumberFile& file = numbers_.at(key);
    const long long value = shared_ ? 0 : file.read() + 1;
    still_valid(deadline);
    if (deadline == 0) deadline = granted;  // it was over before its grant was heard of
    Fields more{wait(), checked(), shared(), token()};
    if (any_) more.push_back(set());
    Fields grant{"grant", key, owner, number(called), number(granted), number(deadline), number(value)};
    grant.insert(grant.end(), more.begin(), more.end());
    record_->write(grant);
    {
      const std::stop_callback when_told(face_.lost(locks_, thread_, name_), [&] { told = shared_clock(); });
      const auto end = std::chrono::steady_clock::now() + (one_of(way_.long_every) ? up_to(way_.longest) : pause_);
      while (still_valid(deadline) && std::chrono::steady_clock::now() < end && !stop_.stop_requested()) {
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now(), kCheck));
      }
    }
    const bool writes = !shared_ && still_valid(deadline);
    if (writes) file.write(value);
    release({"hold", key, owner, number(called), number(granted), number(deadline), number(told)}, more, deadline, told,
            writes ? value : 0);
    return writes;
  }

  /// Gives it back. `fields` is the beginning of its line.
  void release(Fields fields, Fields more, long long deadline, long long told, long long value) {
    const long long released = shared_clock();
    fields.push_back(number(released));
    record_->write({"release", fields[1], fields[2], fields[4], number(released)});
    std::string before = "-";  // where the face does not say why
    if (told != 0 || (deadline != 0 && released >= deadline)) {
      // Deadlines are rounded up by a millisecond at most.
      before = deadline == 0 || (told != 0 && told + 1000 < deadline) ? "taken" : "expired";
    }
    more.emplace_back(releases_ != nullptr ? "waits=no" : "waits=yes");
    const auto write = [record = record_, fields, value, more](const std::string& outcome, const std::string& reason,
                                                               long long at) {
      Fields line = fields;
      line.insert(line.end(), {number(at), outcome, reason, number(value)});
      line.insert(line.end(), more.begin(), more.end());
      record->write(line);
    };
    if (releases_ != nullptr) {
      face_.leave(locks_, thread_, name_, releases_.get(),
                  [write, before](const std::string& outcome) { write(outcome, before, shared_clock()); });
      return;
    }
    std::string outcome;
    face_.leave(locks_, thread_, name_, nullptr, [&](const std::string& told_outcome) { outcome = told_outcome; });
    const long long at = shared_clock();
    const std::string reason = face_.loss_reason(thread_, name_);
    write(outcome, reason.empty() ? before : reason, at);
  }

  /// Moves the deadline on while the hold stands. Valid times are rounded down, hence one more millisecond.
  bool still_valid(long long& deadline) {
    const long long now = shared_clock();
    const Milliseconds valid = face_.valid_for(locks_, thread_, name_);
    if (valid.count() > 0) deadline = now + 1000 * (valid.count() + 1);
    return valid.count() > 0 || !way_.checks;
  }

  static std::string number(long long value) { return std::to_string(value); }
  std::string wait() const { return "wait=" + number(options_.wait ? options_.wait->count() : -1); }
  std::string set() const { return "set=" + key_; }
  std::string shared() const { return shared_ ? "shared=yes" : "shared=no"; }
  std::string token() { return "token=" + number(face_.token(locks_, thread_, name_).value_or(0)); }
  std::string checked() const { return way_.checks ? "checked=yes" : "checked=no"; }

  static constexpr std::chrono::milliseconds kCheck{5};

  TakerFace& face_;
  TakerLocks& locks_;
  TakerThread& thread_;
  const std::shared_ptr<TakerReleases> releases_;
  const std::string name_;
  const std::string key_;                      // as recorded
  const bool any_;                             // of several locks, of which each grant names one
  const bool shared_;                          // and so it writes nothing
  std::map<std::string, NumberFile> numbers_;  // by the lock's name
  const Milliseconds time_;
  const std::shared_ptr<TakerRecord> record_;  // a release whose outcome is not known yet has it too
  const Milliseconds pause_;
  const TakerWay way_;
  const std::stop_token stop_;
  AcquireOptions options_;
  std::mt19937 random_{std::random_device()()};
};

}  // namespace holdfast::test
