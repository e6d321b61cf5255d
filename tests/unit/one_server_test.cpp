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
    config.unix_socket = "/nowhere/redis.sock";
    return config;
  }

  boost::asio::io_context context_;
  test::RunningSchedule schedule_{context_};
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
  Shard* ended_ = nullptr;
  std::string cause_;
  OneServer router_{schedule_, settings(), listeners_,
                    ShardEvents{.connected = [](Shard&) {},
                                .disconnected =
                                    [this](Shard& shard, const std::string& cause) {
                                      ended_ = &shard;
                                      cause_ = cause;
                                    },
                                .message = [](Shard&) {},
                                .command = [](Shard&) {},
                                .to_be_flushed = [](Shard&, std::size_t) {}}};
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
  while (ended_ == nullptr && std::chrono::steady_clock::now() < end) context_.run_one_for(100ms);
  EXPECT_EQ(ended_, &shard);
  EXPECT_THAT(cause_, HasSubstr("No such file or directory"));
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
