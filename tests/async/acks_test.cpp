// SPDX-License-Identifier: Apache-2.0
// Acks by the face that does not block, on the caller's io_context and on the client's own loop.
#include "integration/acks.hpp"

#include "async.hpp"

namespace holdfast::test::acks_test {
namespace {

class AsyncAcks : public Async, public testing::WithParamInterface<Home> {
 protected:
  AsyncAcks() : Async({.listen = ServerOptions::Listen::tcp, .config = {"repl-diskless-sync-delay 0"}}) {}
  Home home() const override { return GetParam(); }
  void SetUp() override {
    ASSERT_TRUE(eventually([&] { return raw.replicated(1); }));
  }
  Client client() {
    Config settings = config();
    settings.acks = Acks::all();
    settings.timing.acks_timeout = 200ms;
    return make_client(settings);
  }

  RedisServer replica{{.listen = ServerOptions::Listen::tcp, .replica_of = &server}};
};

TEST_P(AsyncAcks, AGrantIsConfirmedAndARenewalToo) {
  Client mine = client();
  run([&]() -> awaitable<void> {
    Hold hold = co_await mine.lock("orders").async_acquire({.lease = renewed(600ms)});
    EXPECT_GT(hold.durable_for(), 0ms);
    EXPECT_TRUE(co_await soon([&] { return log->count("renewed") >= 3; }));
    EXPECT_GT(hold.durable_for(), 0ms);
    co_await hold.async_release();
  }());
  EXPECT_EQ(mine.counters().acks_missed, 0U);
  close(mine);
}

TEST_P(AsyncAcks, WhatIsNotConfirmedIsGivenBack) {
  Client mine = client();
  replica.freeze();
  run([&]() -> awaitable<void> {
    try {
      const Hold hold = co_await mine.lock("orders").async_acquire({.wait = 0ms});
      ADD_FAILURE() << "it was granted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code(Errc::durability_not_met));
    }
    EXPECT_TRUE(co_await soon([&] { return !raw.exists("orders"); }));
  }());
  close(mine);
}

INSTANTIATE_TEST_SUITE_P(Homes, AsyncAcks, testing::Values(Home::caller, Home::own), home_name);

}  // namespace
}  // namespace holdfast::test::acks_test
