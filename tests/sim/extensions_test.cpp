// SPDX-License-Identifier: Apache-2.0
// A fixed lease that is extended twice, without waiting, and cancelled: each answer and each question is lost once, and
// after every event the hold is valid for no longer than the server has it.
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <holdfast/async.hpp>

#include "sim/model/model_server.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::test::sim::extensions_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
namespace asio = boost::asio;

enum class Lost { reply, command };
enum class Cancelled { no, yes };

struct Extensions {
  milliseconds first, second;
  milliseconds apart;  // less than a round trip takes, or more
};

/// What a portion of bytes takes in one direction: a millisecond at least.
constexpr milliseconds kSlow = 10ms;

class Trial {
 public:
  Trial(Lost lost, int number, const Extensions& extensions, Cancelled cancelled)
      : lost_(lost), left_(number), extensions_(extensions), cancelled_(cancelled) {
    network_.add(server_);
    network_.slow_down(process_, kSlow, kSlow);
    network_.watch([this](const Process&, char direction, int, std::string_view) {
      if (direction != (lost_ == Lost::reply ? '<' : '>') || --left_ != 0) return;
      if (lost_ == Lost::reply) return network_.lose_next_reply(process_);
      network_.swallow(process_, Network::Way::to_server);
    });
    world_.watch([this] { look(); });
    process_.inside([this] {
      Config config;
      config.server = NodeAddress{server_.place().host};
      config.label = "extensions";  // instead of the program's name
      config.timing.command_timeout = 500ms;
      config.loss_notice = false;
      client_.emplace(client_on(process_.context(), config));
      client_->lock("lock").async_acquire({.lease = fixed(5s)}, [this](const Failure&, Hold hold) {
        hold_ = std::move(hold);
        extend(extensions_.first);
        process_.after(extensions_.apart, [this] { extend(extensions_.second); });
      });
    });
    world_.run(10s);
  }
  ~Trial() {
    process_.inside([this] {
      hold_ = {};
      client_.reset();
    });
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const std::string& wrong() const { return wrong_; }
  bool has_lost() const { return left_ <= 0; }
  int answers() const { return answers_; }

 private:
  void extend(milliseconds lease) {
    const auto cancel = std::make_shared<asio::cancellation_signal>();
    hold_.async_extend(lease,
                       asio::bind_cancellation_slot(cancel->slot(), [this, cancel](const Failure&) { ++answers_; }));
    if (cancelled_ == Cancelled::yes) {
      process_.after(1ms, [cancel] { cancel->emit(asio::cancellation_type::terminal); });
    }
  }
  void look() {
    const milliseconds valid = process_.ask([this] { return hold_.valid_for(); });
    const auto left = server_.keyspace_now().remaining("lock");
    if (wrong_.empty() && valid > 0ms && valid.count() > left) {
      wrong_ = "valid for " + std::to_string(valid.count()) + " ms of " + std::to_string(left) + " at the server";
    }
  }

  const Lost lost_;
  int left_;
  const Extensions extensions_;
  const Cancelled cancelled_;
  World world_{1};
  ModelServer server_{world_};
  Network network_{world_};
  Process process_{world_, 1};
  std::optional<Client> client_;
  Hold hold_;
  std::string wrong_;
  int answers_ = 0;
};

TEST(TwoExtensions, AreBelievedForNoLongerThanTheServerHasThem) {
  int trials = 0;
  for (const Extensions& extensions : {Extensions{20s, 1s, 3ms}, Extensions{1s, 20s, 3ms}, Extensions{20s, 1s, 15ms},
                                       Extensions{500ms, 400ms, 3ms}, Extensions{20s, 1s, 100ms}}) {
    for (const Cancelled cancelled : {Cancelled::no, Cancelled::yes}) {
      for (const Lost lost : {Lost::reply, Lost::command}) {
        for (int number = 1; number < 100; ++number) {
          const Trial trial(lost, number, extensions, cancelled);
          ++trials;
          ASSERT_EQ(trial.wrong(), "") << "with number " << number << " lost, " << extensions.first.count() << " and "
                                       << extensions.second.count() << " ms, " << extensions.apart.count()
                                       << " ms apart";
          EXPECT_EQ(trial.answers(), 2);
          if (!trial.has_lost()) break;
          EXPECT_LT(number, 99) << "all of it was tried";
        }
      }
    }
  }
  EXPECT_GT(trials, 5 * 2 * 2 * 5);
}

}  // namespace
}  // namespace holdfast::test::sim::extensions_test
