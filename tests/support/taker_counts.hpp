// SPDX-License-Identifier: Apache-2.0
// `hold_for` of what nobody holds: permits of a plain semaphore, steps of a latch. With a line in a record for each.
#pragma once

#include <chrono>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "shared_clock.hpp"
#include "taker_command.hpp"
#include "taker_record.hpp"
#include "taker_rounds.hpp"
#include "taker_way.hpp"

namespace holdfast::test {

/// What the rounds of one thread have in common.
class TakerCounts {
 public:
  /// The arguments of `hold_for` in `command`. `stop` ends the rounds, and a wait.
  TakerCounts(const Client& client, const TakerCommand& command, std::stop_token stop)
      : client_(client),
        thread_(command.argument(0)),
        name_(command.argument(1)),
        end_(std::chrono::steady_clock::now() + Milliseconds(command.number(3))),
        record_(command.argument(4)),
        pause_(command.number(5)),
        wait_(command.number(6)),
        way_(command, 7),
        stop_(std::move(stop)) {}

 protected:
  using Milliseconds = std::chrono::milliseconds;
  using Fields = std::vector<std::string>;

  bool over() const { return stop_.stop_requested() || std::chrono::steady_clock::now() >= end_; }
  bool one_of(int every) { return every > 0 && random_() % static_cast<unsigned>(every) == 0; }
  Milliseconds up_to(Milliseconds most) { return Milliseconds(random_() % static_cast<unsigned>(most.count() + 1)); }
  /// Of so many pauses one is longer.
  void pause() {
    const auto until = std::chrono::steady_clock::now() + (one_of(way_.long_every) ? up_to(way_.longest) : pause_);
    while (!over() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(Milliseconds(1));
  }
  /// Asks for what is left.
  template <class Ask>
  void look(const std::string& name, Ask ask) {
    const Microseconds called = shared_clock();
    try {
      const long long left = ask();
      record_.write({"left", name, number(called), number(shared_clock()), number(left)});
    } catch (const Error&) {
      // Nobody knows.
    }
  }
  static std::string number(long long value) { return std::to_string(value); }
  std::string wait() const { return "wait=" + number(wait_.count()); }

  const Client& client_;
  const std::string thread_, name_;
  const std::chrono::steady_clock::time_point end_;
  TakerRecord record_;
  const Milliseconds pause_, wait_;
  const TakerWay way_;
  const std::stop_token stop_;
  std::mt19937 random_{std::random_device()()};
};

/// Takes a permit, pauses, gives it back. A process that is killed takes permits with it for good, so each time of
/// kNewName has a semaphore of its own, by the clock that all processes share: `NAME.1`, `NAME.2`.
class TakerPermits : TakerCounts {
 public:
  using TakerCounts::TakerCounts;

  /// How many were given back.
  long long run() {
    long long given_back = 0;
    while (!over()) given_back += round() ? 1 : 0;
    return given_back;
  }

 private:
  static constexpr Microseconds kNewName = 2'000'000;

  bool round() {
    const long long now = shared_clock() / kNewName;
    const Semaphore semaphore = client_.semaphore(name_ + "." + number(now));
    if (std::exchange(latest_, now) != now) {
      make(semaphore);
      // By now those who had one of its permits have given it back.
      const Semaphore before = client_.semaphore(name_ + "." + number(now - 2));
      look(before.name(), [&] { return before.available(); });
    }
    std::stop_source given_up;
    const std::stop_callback when_stopped(stop_, [&] { given_up.request_stop(); });
    std::optional<TakerAbandon> abandon;
    if (one_of(way_.abandon_every)) abandon.emplace(given_up, up_to(Milliseconds(20)));
    const Microseconds called = shared_clock();
    try {
      const bool taken = semaphore.try_acquire_for(wait_, 1, given_up.get_token());
      abandon.reset();
      if (taken) return use(semaphore, called);
      const bool stopped = given_up.stop_requested();
      fail(semaphore, called, stopped ? "cancelled" : "timed_out", "no permit");
    } catch (const Error& error) {
      fail(semaphore, called, error_word(error.code()), error.code().message() + ": " + error.cause());
    }
    return false;
  }

  bool use(const Semaphore& semaphore, Microseconds called) {
    const Microseconds granted = shared_clock();
    record_.write(
        {"grant", semaphore.name(), thread_, number(called), number(granted), "0", "0", wait(), "shared=yes"});
    pause();
    const Microseconds released = shared_clock();
    record_.write({"release", semaphore.name(), thread_, number(granted), number(released)});
    std::string outcome = "unknown";
    try {
      outcome = semaphore.release() ? "released" : "gone";
    } catch (const Error& error) {
      outcome = error_word(error.code());
    }
    record_.write({"hold", semaphore.name(), thread_, number(called), number(granted), "0", "0", number(released),
                   number(shared_clock()), outcome, "-", "0", wait(), "shared=yes"});
    return outcome == "released";
  }

  void fail(const Semaphore& semaphore, Microseconds called, const std::string& word, const std::string& cause) {
    record_.write({"fail", semaphore.name(), number(called), number(shared_clock()), cause, wait(), "word=" + word,
                   "shared=yes"});
    if (word == "cancelled") return;
    std::this_thread::sleep_for(Milliseconds(10));
    make(semaphore);
  }

  /// A server that has lost its data has no semaphore.
  void make(const Semaphore& semaphore) const {
    try {
      std::ignore = semaphore.init(way_.permits);
    } catch (const Error&) {
      // Whoever fails next tries again.
    }
  }

  long long latest_ = 0;  // the number of the last round's name
};

/// One who sets a latch for each round, `NAME.1`, `NAME.2`, and writes its number to a file; others who read it there.
/// Each makes a step, and waits until the latch is open.
class TakerLatches : TakerCounts {
 public:
  TakerLatches(const Client& client, const TakerCommand& command, std::stop_token stop)
      : TakerCounts(client, command, std::move(stop)), rounds_(command.argument(2)) {}

  /// How many latches it saw open.
  long long run() {
    long long opened = 0, latest = rounds_.read();
    while (!over()) {
      const long long next = way_.sets ? latest + 1 : rounds_.read();
      if (!way_.sets && next == latest) {
        std::this_thread::sleep_for(Milliseconds(2));
        continue;
      }
      latest = next;
      const Latch latch = client_.latch(name_ + "." + number(next));
      if (way_.sets && !set(latch, next)) continue;
      pause();
      opened += step_and_wait(latch) ? 1 : 0;
    }
    return opened;
  }

 private:
  bool set(const Latch& latch, long long round) {
    if (record(latch, "set", [&] { return latch.init(way_.permits) ? "set" : "closed"; }) != "set") {
      std::this_thread::sleep_for(Milliseconds(10));
      return false;
    }
    rounds_.write(round);
    return true;
  }

  bool step_and_wait(const Latch& latch) {
    // A process that is killed now may have made it.
    record_.write(
        {"latch", latch.name(), "steps", number(shared_clock()), "0", "unknown", number(way_.permits), wait()});
    record(latch, "step", [&] { return latch.count_down(), "counted"; });
    const std::string outcome = record(latch, "wait", [&] { return latch.wait_for(wait_, stop_) ? "open" : "closed"; });
    look(latch.name(), [&] { return latch.count(); });
    return outcome == "open";
  }

  template <class Call>
  std::string record(const Latch& latch, const std::string& what, Call call) {
    const Microseconds called = shared_clock();
    std::string outcome;
    try {
      outcome = call();
    } catch (const Error& error) {
      outcome = error_word(error.code());
    }
    // A wait that ends with the run says nothing.
    if (outcome == "closed" && what == "wait" && stop_.stop_requested()) outcome = "cancelled";
    record_.write(
        {"latch", latch.name(), what, number(called), number(shared_clock()), outcome, number(way_.permits), wait()});
    return outcome;
  }

  const NumberFile rounds_;
};

}  // namespace holdfast::test
