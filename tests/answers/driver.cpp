// SPDX-License-Identifier: Apache-2.0
#include "answers/driver.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

namespace holdfast::test::answers {

namespace asio = boost::asio;
using asio::awaitable;

const char* to_string(Kind kind) {
  constexpr const char* kNames[kKinds] = {"lock",    "simple", "fenced", "fair",      "spin",   "read_write",
                                          "permits", "multi",  "any",    "semaphore", "totals", "latch"};
  return kNames[static_cast<std::size_t>(kind)];
}

Driver::Running::Running(Driver& driver, Kind kind, std::string what)
    : calls_(driver.calls_), call_(calls_->insert(calls_->end(), {std::move(what), base::Clock::now()})) {
  ++driver.operations_;
  ++driver.by_kind_[static_cast<std::size_t>(kind)];
}

void Driver::disagree(std::string what) {
  if (!disagreement_) disagreement_ = std::move(what);
}

void Driver::look_for_hangs(base::Duration most) {
  const base::TimePoint now = base::Clock::now();
  const auto hangs = std::ranges::find_if(*calls_, [&](const Call& call) { return now - call.began > most; });
  if (hangs != calls_->end()) disagree(hangs->what + " has no answer");
}

/// A timer of Asio that is never due: it is ended by the ground's own time.
awaitable<void> Driver::pause(std::chrono::microseconds time) {
  const auto timer =
      std::make_shared<asio::steady_timer>(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
  ground_.after(time, [timer] { timer->cancel(); });
  co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
}

awaitable<void> Driver::caller(std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  while (goes_on()) {
    const Kind kind = orders_.only.value_or(static_cast<Kind>(chance() % kKinds));
    std::string name = std::string(to_string(kind)) + ":" + std::to_string(++stories_);
    const std::uint64_t its_seed = chance();
    if (kind >= Kind::semaphore) {
      co_await tell_of_counts(*this, kind, std::move(name), its_seed);
    } else {
      co_await tell_of_holds(*this, kind, std::move(name), its_seed);
    }
  }
}

void Driver::start() {
  std::mt19937_64 seeds(orders_.seed);
  callers_ = orders_.callers;
  for (std::size_t i = 0; i < orders_.callers; ++i) {
    asio::co_spawn(ground_.context(), caller(seeds()), [this](const std::exception_ptr& thrown) {
      --callers_;
      try {
        if (thrown) std::rethrow_exception(thrown);
      } catch (const std::exception& error) {
        disagree(std::string("a caller ends with ") + error.what());
      }
    });
  }
}

}  // namespace holdfast::test::answers
