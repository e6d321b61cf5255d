// SPDX-License-Identifier: Apache-2.0
// What a hold says of its loss, what its end costs then, and mistakes that must not pass in silence.
#include "faults.hpp"
#include "support/standstill.hpp"
#include "support/strange_unlock.hpp"
#include "support/tried.hpp"

namespace holdfast::test::hold_test {
namespace {

using testing::ElementsAre;
using testing::Optional;

class HoldTest : public Faults {};

// --- why it was lost ---

TEST_F(HoldTest, HasNoReasonUntilItIsLost) {
  Client client(config());
  Hold hold = client.lock("orders").acquire();
  EXPECT_EQ(hold.loss_reason(), std::nullopt);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(hold.loss_reason(), std::nullopt);
  EXPECT_EQ(Hold().loss_reason(), std::nullopt);
  EXPECT_FALSE(hold.is_lost());
}

TEST_F(HoldTest, SaysThatItExpiredOrReachedItsCap) {
  Client client(config());
  Hold brief = client.lock("fixed").acquire({.lease = fixed(100ms)});
  Hold capped = client.lock("capped").acquire({.max_hold = 100ms});
  EXPECT_TRUE(eventually([&] { return brief.valid_for() == 0ms && capped.valid_for() == 0ms; }));
  EXPECT_THAT(brief.loss_reason(), Optional(LossReason::expired));
  EXPECT_THAT(capped.loss_reason(), Optional(LossReason::max_hold));
  EXPECT_EQ(capped.state(), HoldState::lost);
  EXPECT_TRUE(brief.is_lost() && capped.is_lost());
  EXPECT_EQ(capped.release(), ReleaseOutcome::released) << "the server still had it";
  EXPECT_THAT(capped.loss_reason(), Optional(LossReason::max_hold)) << "it stays after the release";
}

TEST_F(HoldTest, SaysThatItWasTakenIfOnlyTheReleaseFindsOut) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = fixed(1min)});
  raw.command("DEL", "orders");
  EXPECT_EQ(hold.loss_reason(), std::nullopt);
  EXPECT_FALSE(hold.is_lost()) << "as far as is known here";
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_THAT(hold.loss_reason(), Optional(LossReason::taken));
  EXPECT_TRUE(hold.is_lost());
}

/// Nobody looked while the server was frozen; the release is answered when the lease is over.
TEST_F(HoldTest, SaysThatItExpiredIfTheReleaseIsAnsweredAfterTheDeadline) {
  Config settings = config();
  settings.timing.release_timeout = settings.timing.command_timeout = 20s;
  Client client(settings);
  Hold hold = client.lock("orders").acquire({.lease = fixed(2s)});
  server.freeze();
  auto released = in_thread([&] { return hold.release(); });
  EXPECT_EQ(released.wait_for(2500ms), std::future_status::timeout);
  server.thaw();
  EXPECT_EQ(released.get(), ReleaseOutcome::was_lost);
  EXPECT_THAT(hold.loss_reason(), Optional(LossReason::expired));
}

TEST_F(HoldTest, ThatOutlivesItsClientIsLostInEveryRespect) {
  std::optional<Client> client(config());
  Hold hold = client->lock("orders").acquire();
  const std::stop_token lost = hold.lost_token();
  client.reset();
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_TRUE(hold.lost_token().stop_requested());
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_THAT(hold.loss_reason(), Optional(LossReason::closed));
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released) << "by the client's end";
  EXPECT_THAT(hold.loss_reason(), Optional(LossReason::closed));
  EXPECT_FALSE(raw.exists("orders"));
}

// --- the end of a lost hold ---

TEST_F(HoldTest, DoesNotWaitForTheServerAtItsEndIfItIsLost) {
  Config settings = config();
  settings.timing.release_timeout = 5s;
  Client client(settings);
  std::vector<Hold> holds;
  for (int i = 0; i < 6; ++i) {
    holds.push_back(client.lock("orders:" + std::to_string(i)).acquire({.lease = fixed(500ms)}));
  }
  Lock lock = client.lock("thread", {.lease = fixed(500ms)});
  lock.lock();
  server.freeze();
  EXPECT_TRUE(eventually([&] { return log->count("lost") == 7; }));
  EXPECT_LT(duration_of([&] { holds.clear(); }), 2s) << "six times release_timeout would be 30 s";
  EXPECT_LT(duration_of([&] { lock.unlock(); }), 2s);
  server.thaw();
  EXPECT_TRUE(log->wait_for("released", 7)) << "the releases go out all the same";
}

/// Others listened at the last release, so the next in line wants to know how this one ends before it asks.
TEST_F(HoldTest, AtItsEndWaitsForTheServerOrNotAsItWasTold) {
  const Standstill still;
  Config settings = config();
  settings.timing.release_timeout = 2s;
  settings.timing.command_timeout = 20s;
  const Client client(settings);
  const auto end_of = [&](const Lock& lock, const AcquireOptions& options) {
    std::optional<Hold> hold(lock.acquire(options));
    server.freeze();
    const auto took = duration_of([&] { hold.reset(); });
    server.thaw();
    return took;
  };
  EXPECT_GE(end_of(client.lock("a"), {.lease = fixed(1min)}), 1900ms);
  const auto by_hold = end_of(client.lock("b"), {.lease = fixed(1min), .end_waits = false});
  const auto by_lock = end_of(client.lock("c", {.end_waits = false}), {.lease = fixed(1min)});
  EXPECT_LT(by_hold, 1000ms + still.total());
  EXPECT_LT(by_lock, 1000ms + still.total());
  EXPECT_TRUE(eventually([&] { return !raw.exists("b") && !raw.exists("c"); })) << "it is released all the same";
}

TEST_F(HoldTest, WhoWaitsBehindAnUnansweredReleaseLosesPatienceAllTheSame) {
  Config settings = config();
  settings.timing.command_timeout = 500ms;
  settings.timing.patience = 1s;
  Client client(settings);
  Client other(config());
  Lock lock = client.lock("orders");
  std::optional<Hold> hold = lock.acquire({.lease = renewed(1min)});
  auto waiting = in_thread([&] { return other.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  hold.reset();
  std::optional<Hold> theirs = waiting.get();
  EXPECT_EQ(lock.try_acquire(), std::nullopt) << "they were seen to have it";
  theirs.reset();
  hold = lock.acquire({.lease = renewed(1min)});
  std::this_thread::sleep_for(20ms);  // longer than a tenure
  server.freeze();
  auto releasing = in_thread([&] { return hold->release(); });
  EXPECT_EQ(releasing.wait_for(100ms), std::future_status::timeout);
  const Timed timed = timed_error_of([&] { return lock.acquire(); });
  server.thaw();
  EXPECT_LT(timed.took, 15s);
  ASSERT_TRUE(timed.error);
  EXPECT_EQ(timed.error->code(), code(Errc::unknown_outcome)) << timed.error->what();
}

// --- mistakes ---

TEST_F(HoldTest, UnlockByTheWrongThreadIsToldAndCounted) {
  Client client(config());
  Lock lock = client.lock("orders");
  lock.lock();
  std::thread([&] { unlock_in_release(lock); }).join();
  EXPECT_TRUE(log->wait_for("misuse"));
  EXPECT_THAT(log->details("misuse", "orders"), ElementsAre("unlock() by a thread that does not hold it"));
  EXPECT_EQ(client.counters().misuses, 1U);
  EXPECT_TRUE(lock.this_thread().is_holding());
  lock.unlock();
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_EQ(client.counters().misuses, 1U);
}

TEST_F(HoldTest, UnlockByTheWrongThreadIsPrintedOnceWithoutAnObserver) {
  const Client client(quick_config(server.url()));
  const Lock lock = client.lock("orders");
  testing::internal::CaptureStderr();
  unlock_in_release(lock);
  unlock_in_release(lock);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "holdfast: unlock() of lock \"orders\" by a thread that does not hold it: nothing was released\n");
  EXPECT_EQ(client.counters().misuses, 2U);
  testing::internal::CaptureStderr();
  unlock_in_release(Client(config()).lock("orders"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the observer knows";
}

TEST_F(HoldTest, UnlockByTheWrongThreadEndsAProgramThatIsCompiledForDebugging) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Client client(config());
  const Lock lock = client.lock("orders");
  EXPECT_DEATH(unlock_in_debug(lock), "unlock\\(\\) by a thread that does not hold it");
  lock.lock();
  unlock_in_debug(lock);
  EXPECT_EQ(client.counters().misuses, 0U);
}

TEST_F(HoldTest, AGuardThatOutlivesItsClientIsNoMistake) {
  Client client(config());
  Lock lock = client.lock("orders");
  lock.lock();
  client.close();
  unlock_in_debug(lock);
  EXPECT_EQ(client.counters().misuses, 0U);
}

TEST_F(HoldTest, AThreadThatWouldWaitForItselfWithoutALimitIsTold) {
  Client client(config());
  Lock lock = client.lock("orders");
  const std::scoped_lock guard(lock);
  EXPECT_THAT(error_of([&] { return lock.acquire(); }),
              IsError(Errc::would_deadlock, "orders", client.node(), testing::HasSubstr("by lock()")));
  EXPECT_THAT(error_of([&] { return lock.try_acquire({.wait = milliseconds::max()}); }),
              Optional(testing::Property(&Error::code, code(Errc::would_deadlock))));
  std::error_code error;
  EXPECT_EQ(tried(lock, {.wait = milliseconds::max()}, error), std::nullopt);
  EXPECT_EQ(error, Errc::would_deadlock);
  Lock same = client.lock("orders");
  EXPECT_TRUE(error_of([&] { return same.acquire(); })) << "a copy and a second handle are the same lock";
  // What ends is waited for.
  EXPECT_EQ(lock.try_acquire(), std::nullopt);
  EXPECT_EQ(lock.try_acquire({.wait = 50ms}), std::nullopt);
  EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 50ms}); }),
              Optional(testing::Property(&Error::code, code(Errc::timed_out))));
  EXPECT_EQ(lock.this_thread().hold_count(), 1);
}

TEST_F(HoldTest, AThreadMayWaitForItselfWhereItsHoldEndsOfItself) {
  Client client(config());
  Lock brief = client.lock("fixed", {.lease = fixed(300ms)});
  Lock capped = client.lock("capped", {.lease = renewed(300ms), .max_hold = 100ms});
  brief.lock();
  EXPECT_EQ(brief.acquire({.lease = renewed()}).state(), HoldState::held);
  capped.lock();
  EXPECT_EQ(capped.acquire({.lease = renewed(), .max_hold = 1min}).state(), HoldState::held);
  // And another thread's hold is no reason to refuse.
  Lock lock = client.lock("orders");
  std::optional<Hold> other = lock.acquire();
  auto waiting = in_thread([&] { return lock.acquire(); });
  other.reset();
  EXPECT_TRUE(waiting.get().valid_for() > 0ms);
}

}  // namespace
}  // namespace holdfast::test::hold_test
