// SPDX-License-Identifier: Apache-2.0
// The smallest router: one shard, for every key, and what is heard of it.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "redis/topology/router.hpp"
#include "support/running_schedule.hpp"

namespace holdfast::redis::one_server_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class OneServerTest : public testing::Test {
 protected:
  ~OneServerTest() override {
    router_.close();
    schedule_.close();
    context_.restart();
    context_.run();
  }

  static Config settings() {
    Config config;
    config.server = UnixSocket{"/nowhere/redis.sock"};
    return config;
  }

  boost::asio::io_context context_;
  test::RunningSchedule schedule_{context_};
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  struct Events final : ServerEvents {
    void disconnected(Shard& shard, const std::string& cause) override {
      ended = &shard;
      its_cause = cause;
    }
    Shard* ended = nullptr;
    std::string its_cause;
  } events_;
  OneServer router_{schedule_, settings(), listeners_, events_};
};

TEST_F(OneServerTest, ServesEveryKey) {
  ASSERT_EQ(router_.shards().size(), 1U);
  Shard& shard = *router_.shards().front();
  EXPECT_EQ(&router_.shard_of("orders"), &shard);
  EXPECT_EQ(&router_.shard_of({}), &shard);
  EXPECT_EQ(shard.subscriptions()->listeners(), listeners_);
  EXPECT_EQ(router_.sockets().front(), -1);
}

TEST_F(OneServerTest, SaysWhichShardHasLostItsConnectionAndForgetsWhichServerItWas) {
  Shard& shard = router_.shard_of("orders");
  EXPECT_EQ(shard.server(), 0U);
  shard.identify(17);
  EXPECT_EQ(shard.server(), 17U);
  router_.start({});
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (events_.ended == nullptr && std::chrono::steady_clock::now() < end) context_.run_one_for(100ms);
  EXPECT_EQ(events_.ended, &shard);
  EXPECT_THAT(events_.its_cause, HasSubstr("No such file or directory"));
  EXPECT_EQ(shard.server(), 0U);
}

TEST_F(OneServerTest, EndsWhatWaitsWhenItIsClosed) {
  std::optional<Result> result;
  router_.shard_of("orders").send(Request::of({{"PTTL", "orders"}}, 10s),
                                  [&](Result come) { result = std::move(come); });
  EXPECT_FALSE(result);
  router_.close();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error, Errc::closed);
}

}  // namespace
}  // namespace holdfast::redis::one_server_test
