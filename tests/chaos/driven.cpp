// SPDX-License-Identifier: Apache-2.0
#include "chaos/driven.hpp"

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "support/shared_clock.hpp"
#include "support/taker_text.hpp"

namespace holdfast::test::chaos {
namespace {

constexpr Milliseconds kLease{2000};

class Rounds {
 public:
  Rounds(Taker& taker, Work work, const std::string& record)
      : party_(taker, 1), work_(std::move(work)), record_(record, std::ios::app) {}

  void round() {
    const Microseconds called = shared_clock();
    const Answer answer = party_.start_try(work_.name, work_.wait, kLease).get(work_.wait + kAnswers);
    const Microseconds granted = shared_clock();
    if (!answer.ok || answer.value != "yes") {
      write({"fail", work_.name, number(called), number(granted), answer.ok ? "timed_out" : answer.error,
             std::string("word=") + (answer.ok ? "timed_out" : answer.error)});
      std::this_thread::sleep_for(Milliseconds(20));
      return;
    }
    std::this_thread::sleep_for(work_.pause);
    const Microseconds released = shared_clock();
    const Answer outcome = party_.start_unlock(work_.name).get(kAnswers);
    write({"hold", work_.name, "-", number(called), number(granted), number(called + kLease.count() * 1000), "0",
           number(released), number(shared_clock()), outcome.word() == "not_owner" ? "was_lost" : outcome.word(), "-",
           "0"});
  }

 private:
  static constexpr Milliseconds kAnswers{60000};

  static std::string number(Microseconds value) { return std::to_string(value); }
  void write(const std::vector<std::string>& fields) { record_ << join_fields(fields) + '\n' << std::flush; }

  Party party_;
  const Work work_;
  std::ofstream record_;
};

}  // namespace

Driven::Driven(Taker& taker, Work work, std::string record)
    : thread_([&taker, work = std::move(work), record = std::move(record)](const std::stop_token& stop) {
        Rounds rounds(taker, work, record);
        try {
          while (!stop.stop_requested()) rounds.round();
        } catch (const std::runtime_error&) {
          // Its process says at its end what was wrong.
        }
      }) {}

}  // namespace holdfast::test::chaos
