// SPDX-License-Identifier: Apache-2.0
// Random callers of every kind, whose answers are lost and late, and come after the next question: in simulated time.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "answers/driver.hpp"
#include "sim/model/model_server.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::test::sim::answers_test {
namespace {

using namespace std::chrono_literals;
using answers::Driver;
using answers::Kind;
using answers::Orders;

class SimulatedGround final : public answers::Ground {
 public:
  explicit SimulatedGround(std::uint64_t seed) : world_(seed), chance_(seed) {
    network_.add(server_);
    process_.inside([this] {
      for (int i = 0; i < 6; ++i) clients_.push_back(client_on(process_.context(), config(i)));
    });
    network_.slow_down(process_, 0ms, 3ms);
    network_.watch([this](const Process&, char direction, int, std::string_view) {
      // The first ones log in.
      if (direction == '<' && ++answers_ > 60 && chance_() % 10 == 0) {
        ++lost_;
        network_.lose_next_reply(process_);
      }
    });
  }
  ~SimulatedGround() override {
    process_.inside([this] { clients_.clear(); });
  }

  void run(Driver& driver) {
    process_.inside([&] { driver.start(); });
    const bool ended = world_.run_until(24h, [&] { return driver.over(); });
    if (!ended) process_.inside([&] { driver.look_for_hangs(60s); });
    EXPECT_TRUE(ended);
  }
  std::uint64_t lost() const { return lost_; }

  boost::asio::io_context& context() override { return process_.context(); }
  std::size_t clients() const override { return clients_.size(); }
  const Client& client(std::size_t number) const override { return clients_[number]; }
  void after(std::chrono::microseconds time, std::function<void()> work) override {
    process_.after(time, std::move(work));
  }
  base::Duration left(const std::string& key) override {
    const Keyspace::Millis left = keys().remaining(key);
    return left == Keyspace::kNever ? base::Duration::max() / 2
                                    : std::chrono::milliseconds(std::max<std::int64_t>(left, 0));
  }
  base::Duration permit_left(const std::string& key, const std::string& id) override {
    const auto score = keys().score(key, id);
    return std::chrono::milliseconds(score ? std::max<std::int64_t>(*score - keys().now(), 0) : 0);
  }
  Permits permits(const std::string& key) override {
    Permits permits;
    for (const auto& [score, id] : keys().scores(key)) {
      ++permits.taken;
      if (score <= keys().now()) ++permits.over;
    }
    return permits;
  }
  bool has_field(const std::string& key, const std::string& field) override { return keys().has_field(key, field); }
  std::optional<std::string> text(const std::string& key) override {
    const std::string* const text = keys().text(key);
    return text == nullptr ? std::nullopt : std::optional(*text);
  }
  void remove(const std::string& key) override { keys().erase(key); }

 private:
  Keyspace& keys() { return server_.keyspace_now(); }
  Config config(int number) const {
    Config config;
    config.server = NodeAddress{server_.place().host};
    config.label = "answers";  // instead of the program's name
    config.timing.reconnect_min = 1ms;
    config.timing.reconnect_max = 5ms;
    config.timing.command_timeout = 500ms;
    config.timing.safety_poll = 200ms;
    config.timing.patience = 1min;
    config.loss_notice = number % 2 == 0;
    return config;
  }

  World world_;
  ModelServer server_{world_};
  Network network_{world_};
  Process process_{world_, 1};
  std::mt19937_64 chance_;
  std::vector<Client> clients_;
  std::uint64_t answers_ = 0, lost_ = 0;
};

class Answers : public testing::TestWithParam<Kind> {};

TEST_P(Answers, MayBeLostAndComeLate) {
  std::uint64_t operations = 0, lost = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SimulatedGround ground(seed);
    Driver driver(ground, {.seed = seed, .operations = 400, .callers = 8, .only = GetParam()});
    ground.run(driver);
    ASSERT_EQ(driver.disagreement(), std::nullopt) << "seed " << seed;
    operations += driver.operations();
    lost += ground.lost();
  }
  EXPECT_GE(operations, 1600U);
  EXPECT_GT(lost, operations / 30) << "of some answers in ten";
}

INSTANTIATE_TEST_SUITE_P(Of, Answers,
                         testing::Values(Kind::lock, Kind::simple, Kind::fenced, Kind::fair, Kind::read_write,
                                         Kind::permits, Kind::multi, Kind::any, Kind::semaphore, Kind::totals,
                                         Kind::latch),
                         [](const auto& each) { return to_string(each.param); });

}  // namespace
}  // namespace holdfast::test::sim::answers_test
