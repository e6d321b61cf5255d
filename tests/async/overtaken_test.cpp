// SPDX-License-Identifier: Apache-2.0
// Answers that come when the next question has been asked already: of extensions, and of downgrades.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "async.hpp"

namespace holdfast::test::async_overtaken_test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::Le;

/// Of two extensions the second is executed, and its answer is lost; that of the first comes behind the send of the
/// second, so much later.
class OvertakenExtension : public Async, public testing::WithParamInterface<milliseconds> {
 protected:
  using Ended = std::optional<Failure>;

  void extend(Hold& hold, milliseconds lease, Ended& ended) {
    hold.async_extend(lease,
                      asio::bind_executor(context, [&ended](const Failure& failure) { ended.emplace(failure); }));
  }
  long long left() { return raw.command("PTTL", "orders").integer; }

  Proxy proxy{server};
};

TEST_P(OvertakenExtension, DoesNotPutTheEndOffBeyondTheLaterOne) {
  Config settings = config(proxy.url());
  settings.loss_notice = false;
  Client client = make_client(settings);
  Ended longer, shorter, again;
  Hold hold;
  run([&]() -> awaitable<void> {
    hold = co_await client.lock("orders").async_acquire({.lease = fixed(10s)}, use_awaitable);
  }());
  proxy.delay(Proxy::Direction::to_client, GetParam());
  extend(hold, 1min, longer);
  ASSERT_TRUE(turn_until([&] { return left() > 50'000; }));
  raw.command("PING");  // the server has sent its answer by then
  raw.command("PING");
  proxy.drop_replies(true);
  extend(hold, 5s, shorter);
  ASSERT_TRUE(turn_until([&] { return left() <= 5000; })) << "the server has done it";
  ASSERT_TRUE(turn_until([&] { return longer.has_value(); }));
  EXPECT_FALSE(*longer) << longer->what();
  EXPECT_THAT(hold.valid_for(), AllOf(Gt(0ms), Le(milliseconds(left()))));
  ASSERT_TRUE(turn_until([&] { return shorter.has_value(); }));
  EXPECT_EQ(shorter->code(), Errc::unknown_outcome);
  EXPECT_THAT(hold.valid_for(), AllOf(Gt(0ms), Le(milliseconds(left()))));
  proxy.delay(Proxy::Direction::to_client, 0ms);
  const std::size_t connected = log->count("up");
  proxy.drop_replies(false);
  ASSERT_TRUE(turn_until([&] { return log->count("up") > connected; }));
  extend(hold, 1min, again);
  ASSERT_TRUE(turn_until([&] { return again.has_value(); }));
  EXPECT_FALSE(*again) << again->what();
  EXPECT_GT(hold.valid_for(), 50s) << "what is answered last is settled";
  run([&]() -> awaitable<void> { co_await hold.async_release(use_awaitable); }());
  close(client);
}

// By its own time limit the shorter one is given up before or after the answer comes.
INSTANTIATE_TEST_SUITE_P(Answered, OvertakenExtension, testing::Values(50ms, 1200ms), [](const auto& each) {
  return each.param < 500ms ? "BeforeTheLaterOneIsGivenUp" : "AfterTheLaterOneIsGivenUp";
});

/// A release, or a leave, that is sent while nobody knows whether the writer reads by then.
class OvertakenDowngrade : public Async {
 protected:
  OvertakenDowngrade() {
    run([this]() -> awaitable<void> { hold = co_await table.writer().async_acquire(use_awaitable); }());
  }
  ~OvertakenDowngrade() override {
    hold = {};
    close(client);
  }

  void begin_downgrade() {
    std::optional<Failure> ended;
    const auto before = client.counters().commands;
    table.async_downgrade(
        hold,
        asio::bind_cancellation_slot(
            cancel.slot(), asio::bind_executor(context, [&ended](const Failure& failure) { ended.emplace(failure); })));
    EXPECT_TRUE(turn_until([&] { return client.counters().commands > before; }));
    cancel.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(turn_until([&] { return ended.has_value(); }));
    EXPECT_EQ(ended->code(), Errc::cancelled);
  }
  void lose_downgrade() {
    proxy.drop_requests(true);
    begin_downgrade();
    const std::size_t connected = log->count("up");
    proxy.drop_requests(false);
    ASSERT_TRUE(turn_until([&] { return log->count("up") > connected; }));
  }
  void expect_released() {
    std::optional<ReleaseOutcome> outcome;
    std::move(hold).async_release(asio::bind_executor(context, [&](ReleaseOutcome known) { outcome = known; }));
    if (!server.up()) server.thaw();
    ASSERT_TRUE(turn_until([&] { return outcome.has_value(); }));
    EXPECT_EQ(*outcome, ReleaseOutcome::released);
    EXPECT_FALSE(raw.exists("table")) << "neither a writer nor a reader";
  }
  void expect_left() {
    EXPECT_EQ(hold.leave(2s), ReleaseOutcome::unknown) << "it cannot wait here";
    if (!server.up()) server.thaw();
    EXPECT_TRUE(turn_until([&] {
      const long long left = raw.command("PTTL", "table").integer;
      return left > 0 && left <= 2000;
    }));
    EXPECT_TRUE(turn_until([&] { return !raw.exists("table"); }));
  }

  Proxy proxy{server};
  Client client = make_client([this] {
    Config settings = config(proxy.url());
    settings.lease = 1min;
    settings.kinds.handoff = 20s;
    settings.timing.release_timeout = 20s;
    settings.timing.command_timeout = 20s;
    return settings;
  }());
  ReadWriteLock table = client.read_write_lock("table");
  Hold hold;
  asio::cancellation_signal cancel;
};

TEST_F(OvertakenDowngrade, ThatIsExecutedFirstIsReleasedAsAReader) {
  server.freeze();
  begin_downgrade();
  expect_released();
}

TEST_F(OvertakenDowngrade, ThatIsLostIsReleasedAsAWriter) {
  lose_downgrade();
  expect_released();
}

TEST_F(OvertakenDowngrade, ThatIsExecutedFirstIsLeftAsAReader) {
  server.freeze();
  begin_downgrade();
  expect_left();
}

TEST_F(OvertakenDowngrade, ThatIsLostIsLeftAsAWriter) {
  lose_downgrade();
  expect_left();
}

TEST_F(OvertakenDowngrade, IsNoLossForWhatWasAskedBeforeItsAnswer) {
  std::optional<Failure> downgraded, first, second;
  const auto keeps = [this](std::optional<Failure>& to) {
    return asio::bind_executor(context, [&to](const Failure& failure) { to.emplace(failure); });
  };
  Hold its;
  run([&]() -> awaitable<void> {
    co_await hold.async_release(use_awaitable);
    its = co_await table.writer().async_acquire({.lease = fixed(1min)}, use_awaitable);
  }());
  server.freeze();
  table.async_downgrade(its, keeps(downgraded));
  its.async_extend(50s, keeps(first));
  its.async_extend(40s, keeps(second));
  const auto asked = [&, before = client.counters().commands] { return client.counters().commands >= before + 3; };
  EXPECT_TRUE(turn_until(asked));
  server.thaw();
  ASSERT_TRUE(turn_until([&] { return downgraded && first && second; }));
  EXPECT_FALSE(*downgraded) << downgraded->what();
  EXPECT_EQ(first->code(), Errc::unknown_outcome) << "as a writer, which it is not any more";
  EXPECT_EQ(second->code(), Errc::unknown_outcome);
  EXPECT_FALSE(its.is_lost());
  EXPECT_THAT(its.valid_for(), AllOf(Gt(30s), Le(40s)));
  run([&]() -> awaitable<void> { EXPECT_EQ(co_await its.async_release(use_awaitable), ReleaseOutcome::released); }());
  EXPECT_FALSE(raw.exists("table"));
}

/// It waits here, and would have been a writer beside readers.
TEST_F(OvertakenDowngrade, IsNotPassedOnToTheNextWriter) {
  std::optional<Hold> next;
  table.writer().async_acquire(asio::bind_executor(context, [&](const Failure& failure, Hold its) {
    EXPECT_FALSE(failure);
    next = std::move(its);
  }));
  ASSERT_TRUE(turn_until([&] { return client.counters().waiting > 0; }));
  server.freeze();
  begin_downgrade();
  std::optional<ReleaseOutcome> outcome;
  hold.async_release(asio::bind_executor(context, [&](ReleaseOutcome known) { outcome = known; }));
  EXPECT_FALSE(turn_until([&] { return outcome.has_value(); }, 50ms));
  server.thaw();
  ASSERT_TRUE(turn_until([&] { return outcome.has_value() && next.has_value(); }));
  EXPECT_EQ(*outcome, ReleaseOutcome::released);
  EXPECT_EQ(raw.hgetall("table")["mode"], "write");
  next.reset();
  EXPECT_TRUE(turn_until([&] { return !raw.exists("table"); }));
}

/// The server may have the longer of two leases, if it has not answered to the shorter one.
TEST_P(OvertakenExtension, IsReleasedForAsLongAsTheServerMayHaveIt) {
  Config settings = config(proxy.url());
  settings.timing.command_timeout = 100ms;
  settings.timing.release_timeout = 30s;
  Client client = make_client(settings);
  Hold hold;
  run([&]() -> awaitable<void> {
    hold = co_await client.lock("orders").async_acquire({.lease = fixed(1min)}, use_awaitable);
  }());
  proxy.drop_requests(true);
  Ended shorter;
  extend(hold, GetParam(), shorter);
  ASSERT_TRUE(turn_until([&] { return shorter.has_value(); }));
  EXPECT_EQ(shorter->code(), Errc::unknown_outcome);
  std::optional<ReleaseOutcome> outcome;
  hold.async_release(asio::bind_executor(context, [&](ReleaseOutcome known) { outcome = known; }));
  EXPECT_FALSE(turn_until([&] { return outcome.has_value(); }, GetParam() + 1500ms));
  proxy.drop_requests(false);
  ASSERT_TRUE(turn_until([&] { return outcome.has_value(); }));
  EXPECT_FALSE(raw.exists("orders"));
  close(client);
}

}  // namespace
}  // namespace holdfast::test::async_overtaken_test
