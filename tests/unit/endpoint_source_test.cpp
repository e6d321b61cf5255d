// SPDX-License-Identifier: Apache-2.0
// Where a lane's server is: asked for each session, perhaps not known, perhaps not soon.
#include "redis/connection/endpoint_source.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "redis/connection/lane.hpp"
#include "support/running_schedule.hpp"

namespace holdfast::redis::endpoint_source_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

/// Answers when it is told to.
class SlowSource final : public EndpointSource {
 public:
  void find(Found found) override {
    ++asked;
    found_ = std::move(found);
  }
  void forget() override {
    ++forgotten;
    found_ = {};
  }
  std::string missing() const override { return "word of the guide"; }
  Prospect on_end(bool served) override {
    ends += served ? "served " : "failed ";
    return prospect;
  }
  void watch(const Moved& moved) override { moved_to = moved; }

  void answer(std::optional<ServerAddress> address, const std::string& problem) {
    std::exchange(found_, {})(std::move(address), problem);
  }

  int asked = 0;
  int forgotten = 0;
  std::string ends;
  Prospect prospect = Prospect::same;
  Moved moved_to;

 private:
  Found found_;
};

class EndpointSourceTest : public testing::Test {
 protected:
  ~EndpointSourceTest() override {
    lane_.close();
    schedule_.close();
    context_.restart();
    context_.run();
  }

  static Config settings() {
    Config config;
    config.timing.connect_timeout = 300ms;
    config.timing.reconnect_min = config.timing.reconnect_max = 10ms;
    return config;
  }
  void send() {
    lane_.send(Request::of({{"PING"}}, 10s), [this](Result result) { result_ = std::move(result); });
  }
  template <class Condition>
  void run_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!condition() && std::chrono::steady_clock::now() < end) {
      context_.restart();
      context_.run_one_for(100ms);
    }
    EXPECT_TRUE(condition());
  }

  boost::asio::io_context context_;
  test::RunningSchedule schedule_{context_};
  const std::shared_ptr<SlowSource> source_ = std::make_shared<SlowSource>();
  Subscriptions subscriptions_{std::make_shared<Listeners>()};
  struct Events final : LaneEvents {
    void disconnected(const std::string& cause) override { ends.push_back(cause); }
    std::vector<std::string> ends;
  } events_;
  Lane lane_{schedule_, settings(), source_, subscriptions_, events_};
  std::optional<Result> result_;
};

TEST_F(EndpointSourceTest, SaysWhyThereIsNoAddress) {
  lane_.start({});
  send();
  EXPECT_EQ(source_->asked, 1);
  source_->answer({}, "nobody has been elected");
  run_until([&] { return result_.has_value(); });
  EXPECT_EQ(result_->delivery, Delivery::not_sent);
  EXPECT_EQ(result_->error, Errc::unreachable);
  EXPECT_EQ(result_->cause, "nobody has been elected");
}

TEST_F(EndpointSourceTest, IsAskedAnewForEachSession) {
  lane_.start({});
  source_->answer({}, "nobody has been elected");
  run_until([&] { return source_->asked == 2; });
  source_->answer(ServerAddress{.unix_socket = "/nowhere/redis.sock"}, {});
  run_until([&] { return source_->asked == 3; });
  ASSERT_EQ(events_.ends.size(), 2U);
  EXPECT_EQ(events_.ends.front(), "nobody has been elected");
  EXPECT_THAT(events_.ends.back(), HasSubstr("No such file or directory"));
  EXPECT_EQ(source_->forgotten, 0);
}

TEST_F(EndpointSourceTest, IsForgottenWhenItTakesTooLong) {
  lane_.start({});
  send();
  run_until([&] { return result_.has_value(); });
  EXPECT_THAT(result_->cause, StartsWith("no word of the guide within 300 ms"));
  EXPECT_EQ(source_->forgotten, 1);
}

TEST_F(EndpointSourceTest, IsForgottenWhenTheLaneIsClosed) {
  lane_.start({});
  lane_.close();
  EXPECT_EQ(source_->forgotten, 1);
}

TEST_F(EndpointSourceTest, MayLetThoseWhoWaitGoOnWaiting) {
  source_->prospect = Prospect::changes;
  lane_.start({});
  send();
  source_->answer(ServerAddress{.unix_socket = "/nowhere/redis.sock"}, {});
  run_until([&] { return source_->asked == 2; });
  EXPECT_FALSE(result_);
  source_->prospect = Prospect::same;
  source_->answer({}, "nobody has been elected");
  run_until([&] { return result_.has_value(); });
  EXPECT_EQ(source_->ends, "failed failed ");
}

TEST_F(EndpointSourceTest, IsAskedAtOnceWhenItKnowsAnotherAddress) {
  source_->prospect = Prospect::another;
  lane_.start({});
  source_->answer(ServerAddress{.unix_socket = "/nowhere/redis.sock"}, {});
  run_until([&] { return source_->asked == 2; });
}

TEST_F(EndpointSourceTest, IsAskedAgainWhenTheServerHasMovedMeanwhile) {
  lane_.start({});
  source_->answer({}, "nobody has been elected");
  run_until([&] { return events_.ends.size() == 1; });
  source_->moved_to("somebody was elected");
  run_until([&] { return source_->asked == 2; });
}

TEST(ConfiguredEndpoint, IsTheNextAfterAFailureAndStaysWhereItWasServed) {
  ConfiguredEndpoint source(Config::from_url("redis://a,b:2,[::1]:3"));
  EXPECT_EQ(source.addresses(), 3U);
  std::string found;
  const auto note = [&](std::optional<ServerAddress> address, const std::string&) {
    found = in_words(address.value());
  };
  const auto find = [&] {
    source.find(note);
    return found;
  };
  EXPECT_EQ(find(), "a:6379");
  EXPECT_EQ(source.on_end(false), Prospect::another);
  EXPECT_EQ(find(), "b:2");
  EXPECT_EQ(source.on_end(true), Prospect::same);
  EXPECT_EQ(find(), "b:2");
  EXPECT_EQ(source.on_end(false), Prospect::another);
  EXPECT_EQ(find(), "[::1]:3");
  EXPECT_EQ(source.on_end(false), Prospect::another);
  EXPECT_EQ(find(), "a:6379");
  EXPECT_EQ(source.on_end(false), Prospect::same) << "all were tried";
  EXPECT_EQ(find(), "b:2");
}

TEST(ConfiguredEndpoint, IsThatOfTheConfiguration) {
  std::vector<ServerAddress> found;
  const auto note = [&](std::optional<ServerAddress> address, const std::string& problem) {
    EXPECT_EQ(problem, "");
    found.push_back(address.value());
  };
  ConfiguredEndpoint(Config::from_url("redis://example.org:17")).find(note);
  ConfiguredEndpoint(Config::from_url("unix:///run/redis.sock")).find(note);
  EXPECT_EQ(found.at(0).host, "example.org");
  EXPECT_EQ(found.at(0).port, 17);
  EXPECT_EQ(found.at(0).unix_socket, "");
  EXPECT_EQ(found.at(1).unix_socket, "/run/redis.sock");
}

}  // namespace
}  // namespace holdfast::redis::endpoint_source_test
