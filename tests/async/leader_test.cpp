// SPDX-License-Identifier: Apache-2.0
// Leader for bodies that are coroutines: they have ended before the lead is given away, and nobody is left behind.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>

#include "async.hpp"

namespace holdfast::test::async_leader_test {
namespace {

using testing::ElementsAre;

class AsyncElections : public BothHomes {
 protected:
  FencedLock lock(const Client& of) { return of.fenced_lock("scheduler", {.lease = renewed(600ms)}); }
  bool held() { return raw.exists("scheduler"); }
  bool somebody_waits() { return raw.command("PUBSUB", "NUMSUB", channel_of("scheduler")).elements.at(1).integer == 1; }

  /// Starts it; how it ended is told by `ended`.
  template <class Result>
  void start(awaitable<Result> work, std::optional<std::exception_ptr>& ended, asio::cancellation_slot slot = {}) {
    asio::co_spawn(context, std::move(work),
                   asio::bind_cancellation_slot(slot, [&](std::exception_ptr problem, auto&&...) { ended = problem; }));
  }

  Client client = make_client();
  Leader leader{lock(client)};
};
HOLDFAST_BOTH_HOMES(AsyncElections);

/// Until it is cancelled.
awaitable<void> lead_on(const Term&) { co_await pause(10min); }

std::optional<std::error_code> code_of(const std::optional<std::exception_ptr>& ended) {
  try {
    if (ended && *ended) std::rethrow_exception(*ended);
  } catch (const Error& error) {
    return error.code();
  } catch (const boost::system::system_error& error) {
    return error.code();
  }
  return std::nullopt;
}

TEST_P(AsyncElections, TheBodyHasATokenThatGrowsFromTermToTerm) {
  std::vector<std::int64_t> tokens;
  const auto body = [&](const Term& term) -> awaitable<void> {
    EXPECT_TRUE(term.leads() && leader.leads() && held());
    tokens.push_back(term.token());
    co_await pause(1ms);
  };
  run([&]() -> awaitable<void> {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(co_await leader.async_lead(body), TermEnd::finished);
      EXPECT_FALSE(leader.leads() || held());
    }
  }());
  EXPECT_THAT(tokens, ElementsAre(1, 2, 3));
}

TEST_P(AsyncElections, WhoStepsDownIsCancelledAndLeadsUntilItHasEnded) {
  bool told = false;
  const auto body = [&](const Term& term) -> awaitable<void> {
    leader.step_down();
    auto [ended] = co_await asio::steady_timer(context, 1min).async_wait(asio::as_tuple(use_awaitable));
    told = ended == asio::error::operation_aborted && term.stop_token().stop_requested() && !term.leads();
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    for (int i = 0; i < 30 && held(); ++i) co_await pause(10ms);
    EXPECT_TRUE(held() && leader.leads()) << "given away before its body has ended";
  };
  run([&]() -> awaitable<void> { EXPECT_EQ(co_await leader.async_lead(body), TermEnd::stepped_down); }());
  EXPECT_TRUE(told);
  EXPECT_FALSE(held());
}

TEST_P(AsyncElections, ALossCancelsTheBody) {
  run([&]() -> awaitable<void> {
    const auto body = [&](const Term& term) -> awaitable<void> {
      raw.command("DEL", "scheduler");
      co_await lead_on(term);
    };
    EXPECT_EQ(co_await leader.async_lead(body), TermEnd::lost);
    EXPECT_FALSE(leader.leads());
    const auto at_the_end = [&](const Term&) -> awaitable<void> {
      raw.command("DEL", "scheduler");
      co_return;
    };
    EXPECT_EQ(co_await leader.async_lead(at_the_end), TermEnd::lost) << "also if only the release finds it";
  }());
}

TEST_P(AsyncElections, WhatTheBodyThrowsComesAfterTheRelease) {
  std::optional<std::exception_ptr> inner;
  const auto body = [&](const Term& term) -> awaitable<void> {
    start(leader.async_lead(lead_on), inner);
    EXPECT_TRUE(co_await soon([&] { return inner.has_value(); }));
    leader.step_down();
    EXPECT_TRUE(term.stop_token().stop_requested());
    throw Error(Errc::wrong_type, "the body's own", {}, {});
  };
  std::optional<std::exception_ptr> ended;
  start(leader.async_lead(body), ended);
  ASSERT_TRUE(turn_until([&] { return ended.has_value(); }));
  EXPECT_EQ(code_of(inner), Errc::would_deadlock);
  EXPECT_EQ(code_of(ended), Errc::wrong_type);
  EXPECT_FALSE(held());
}

TEST_P(AsyncElections, OfTwoCampaignsTheOtherLeadsNext) {
  Client there = make_client();
  Leader other(lock(there));
  std::stop_source stop;
  std::optional<std::exception_ptr> here_ended, there_ended;
  const CampaignOptions options{.stop = stop.get_token(), .rest = 10min};
  start(leader.async_campaign(lead_on, options), here_ended);
  ASSERT_TRUE(turn_until([&] { return leader.leads(); }));
  start(other.async_campaign(lead_on, options), there_ended);
  ASSERT_TRUE(turn_until([&] { return somebody_waits(); }));
  leader.step_down();
  ASSERT_TRUE(turn_until([&] { return other.leads(); })) << "the first one stands back";
  EXPECT_FALSE(leader.leads() || here_ended);
  stop.request_stop();
  ASSERT_TRUE(turn_until([&] { return here_ended && there_ended; }));
  EXPECT_FALSE(*here_ended || *there_ended) << "a stop is no error";
  EXPECT_FALSE(held());
  if (home() == Home::caller) close({&client, &there});
}

TEST_P(AsyncElections, CancelledItLeavesNothingBehind) {
  asio::cancellation_signal cancel;
  std::optional<std::exception_ptr> ended;
  start(leader.async_campaign(lead_on), ended, cancel.slot());
  ASSERT_TRUE(turn_until([&] { return leader.leads(); }));

  Client there = make_client();
  Leader waiting(lock(there));
  asio::cancellation_signal cancel_wait;
  std::optional<std::exception_ptr> wait_ended;
  start(waiting.async_lead(lead_on), wait_ended, cancel_wait.slot());
  ASSERT_TRUE(turn_until([&] { return somebody_waits(); }));
  cancel_wait.emit(asio::cancellation_type::terminal);
  ASSERT_TRUE(turn_until([&] { return wait_ended.has_value(); }));
  EXPECT_EQ(code_of(wait_ended), Errc::cancelled);

  cancel.emit(asio::cancellation_type::terminal);
  ASSERT_TRUE(turn_until([&] { return ended.has_value(); }));
  EXPECT_EQ(code_of(ended), std::errc::operation_canceled);
  EXPECT_FALSE(held());
  if (home() == Home::caller) close({&client, &there});
}

TEST_P(AsyncElections, ACampaignThatEndsWithItsContextMayOutliveItsObject) {
  std::optional<std::exception_ptr> ended;
  Leader gone(lock(client));
  start(gone.async_campaign(lead_on), ended);
  ASSERT_TRUE(turn_until([&] { return gone.leads(); }));
}  // the context is destroyed last

}  // namespace
}  // namespace holdfast::test::async_leader_test
