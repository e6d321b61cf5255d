// SPDX-License-Identifier: Apache-2.0
// A whole client, on the caller's loop, at servers that say anything: one, several, Sentinels, a cluster. Whatever is
// asked of it ends once, and in time, and when it is closed nothing is left.
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/async.hpp>

#include "fuzz/fuzz.hpp"
#include "fuzz/resp.hpp"
#include "fuzz/stage.hpp"

namespace holdfast::fuzz {
namespace {

using namespace std::chrono_literals;
using base::Reply;

constexpr int kMostSteps = 200;
constexpr int kMostCalls = 40;
constexpr base::Duration kLongestWait = 3s;
/// Beyond the wait, the patience and the time limits of what follows one another in a call.
constexpr base::Duration kAllIsOver = 60s;
constexpr base::Duration kBeyond = 1s;
constexpr std::array<const char*, 3> kNames{"orders", "stock", "{orders}"};

Reply text(std::string_view what) { return {.kind = Reply::Kind::text, .text = std::string(what)}; }
Reply number(std::int64_t value) { return {.kind = Reply::Kind::integer, .integer = value}; }
Reply list(std::vector<Reply> elements) { return {.kind = Reply::Kind::array, .elements = std::move(elements)}; }

class Play {
 public:
  explicit Play(Input input) : input_(input), client_(client_on(stage_.context(), settings(input_.byte()))) {}

  void run() {
    for (int i = 0; !input_.empty() && i < kMostSteps; ++i) step();
    pass_until_all_is_over();
    require(open_ == 0, "each call ends in time");
    holds_.clear();
    begin();
    client_.async_close([this] { end(); });
    pass_until_all_is_over();
    require(open_ == waits_for_loss_, "closing ends in time");
    require(waits_for_loss_ == 0, "with the client ends who waits for a loss");
  }

 private:
  static Config settings(std::uint8_t how) {
    Config config;
    config.client_name = (how & 1U) != 0 ? "fuzz" : "";
    config.lease = 3s;
    config.timing.patience = 2s;
    config.timing.command_timeout = 1s;
    config.timing.release_timeout = 1s;
    config.timing.connect_timeout = 1s;
    if ((how & 2U) != 0) config.acks = Acks::majority();
    if ((how & 4U) != 0) config.pipelined_release = true;
    switch (how >> 6U) {
      case 1:
        config.server = Servers{{{"127.0.0.1"}, {"other"}}};
        break;
      case 2:
        config.server = SentinelConfig{{{"10.0.0.1", 26379}, {"10.0.0.2", 26379}}, "mymaster", {}, {}};
        break;
      case 3:
        config.server = ClusterConfig{{{"10.0.0.1", 7000}, {"10.0.0.2", 7000}}};
        break;
      default:
        break;
    }
    return config;
  }

  /// And a while beyond that, in which nothing may end again.
  void pass_until_all_is_over() {
    stage_.pass_until(kAllIsOver, [this] { return open_ == 0; });
    stage_.pass(kBeyond);
  }

  // --- what is asked of the client ---

  void begin() { ++open_; }
  void end() {
    require(open_ > 0, "a call ends once");
    --open_;
  }
  /// For a call that must end once.
  auto once() {
    begin();
    return [this, told = std::make_shared<bool>(false)](auto&&...) {
      require(!std::exchange(*told, true), "a call ends once");
      end();
    };
  }

  void call() {
    if (++calls_ > kMostCalls) return;
    const Lock lock = client_.lock(kNames.at(input_.below(kNames.size())));
    switch (input_.below(8)) {
      case 0:
      case 1:
      case 2:
        return acquire(lock);
      case 3:
        return acquire(client_.simple_lock("orders"));
      case 4:
        return acquire(client_.multi_lock({"{orders}", "orders"}));
      case 5:
        return lock.async_info(once());
      case 6:
        return client_.async_list("*", once());
      default:
        return input_.coin() ? client_.async_ping(once()) : lock.async_force_release(once());
    }
  }

  void acquire(const BasicLock& lock) {
    AcquireOptions options;
    const std::size_t how = input_.byte();
    options.wait = std::chrono::milliseconds((how & 3U) * 1000);
    if ((how & 4U) != 0) options.lease = fixed(std::chrono::milliseconds(500));
    if ((how & 8U) != 0) options.acks = Acks::replicas(1);
    if ((how & 16U) != 0) options.max_hold = 700ms;
    begin();
    lock.async_acquire(
        options, [this, told = std::make_shared<bool>(false), asked = stage_.now()](const Failure& failure, Hold hold) {
          require(!std::exchange(*told, true), "a call ends once");
          end();
          require(static_cast<bool>(failure) != static_cast<bool>(hold), "an acquire has a hold or a failure");
          if (failure) return;
          require(hold.valid_for() <= 3s, "no hold is valid for longer than its lease");
          require(stage_.now() - asked <= kLongestWait + 1s, "no grant comes long after the wait");
          wait_for_loss(hold);
          holds_.push_back(std::move(hold));
        });
  }

  void wait_for_loss(const Hold& hold) {
    begin();
    ++waits_for_loss_;
    hold.async_wait_lost([this](const Failure&, LossReason) {
      --waits_for_loss_;
      end();
    });
  }

  void use_hold() {
    if (holds_.empty()) return;
    std::swap(holds_.back(), holds_[input_.below(holds_.size())]);
    Hold hold = std::move(holds_.back());
    holds_.pop_back();
    const bool valid = hold.valid_for() > 0ms;
    require(!valid || hold.state() == HoldState::held || hold.state() == HoldState::suspect,
            "what is valid is held or suspect");
    require(valid || hold.state() == HoldState::lost || hold.state() == HoldState::held, "what is not valid is lost");
    switch (input_.below(3)) {
      case 0:
        return hold.async_release(once());
      case 1:
        return;  // and with it the hold
      default:
        holds_.push_back(std::move(hold));
    }
  }

  // --- what servers do ---

  void step() {
    switch (input_.below(14)) {
      case 0:
      case 1:
        call();
        break;
      case 2:
        use_hold();
        break;
      case 3:
      case 4:
      case 5:
        return answer();
      case 6:
        return say(encoded(made_reply(input_)));
      case 7:
        return say(input_.text());
      case 8:
        return push();
      case 9:
        return stage_.pass_to_next(2s);
      case 10:
        return stage_.pass(std::chrono::milliseconds(input_.byte() * 4));
      case 11:
        return input_.below(4) == 0 ? static_cast<void>(stage_.refuse()) : log_in();
      case 12:
        return stage_.turn_to(input_.byte());
      default:
        return stage_.hang_up();
    }
    stage_.settle();
  }

  void say(std::string_view bytes) { stage_.say(bytes); }

  /// As a primary does, and one that knows no other and no earlier connection.
  void log_in() {
    stage_.accept();
    say(encoded(list({text("id"), number(input_.below(2)), text("mode"), text(input_.coin() ? "cluster" : "standalone"),
                      text("role"), text("master")})));
    if (input_.coin()) say("*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n-ERR no such subcommand\r\n");
  }

  /// What is often right.
  void answer() {
    switch (input_.below(10)) {
      case 0:
        return say("_\r\n");  // granted
      case 1:
        return say(encoded(number(input_.byte() * 10)));  // busy, or so many were told
      case 2:
        return say(encoded(list({number(1), number(input_.byte() * 10), number(input_.byte()), text("x:1")})));
      case 3:
        return say(encoded(list({})));  // all were renewed
      case 4:
        return say(encoded(list({number(1)})));
      case 5:
        return say(encoded(list({list({number(0), number(input_.coin() ? 16383 : 5460), node()})})));
      case 6:
        return say(encoded(list({text("10.0.0." + std::to_string(input_.below(3))), text("6379")})));
      case 7:
        return say("-MOVED 866 10.0.0." + std::to_string(input_.below(3)) + ":7000\r\n");
      case 8:
        return say("+OK\r\n");
      default:
        return say(encoded(text("\r\nrole:master\r\nconnected_slaves:1\r\nrun_id:aaaa\r\nconnected_clients:1\r\n")));
    }
  }
  Reply node() {
    return list({text("10.0.0." + std::to_string(input_.below(3))), number(7000), text(std::string(40, 'a'))});
  }

  void push() {
    constexpr std::array kKinds{"message",     "smessage",     "subscribe", "ssubscribe",
                                "unsubscribe", "sunsubscribe", "invalidate"};
    const std::string name = kNames.at(input_.below(kNames.size()));
    const std::string kind = kKinds.at(input_.below(kKinds.size()));
    const std::string channel = "redisson_lock__channel:" + (name.front() == '{' ? name : "{" + name + "}");
    const Reply second = kind == "invalidate" ? list({text(name)}) : text(channel);
    say(">3\r\n" + encoded(text(kind)) + encoded(second) + encoded(number(0)));
  }

  Input input_;
  int calls_ = 0;
  int open_ = 0;
  int waits_for_loss_ = 0;
  Stage stage_;
  std::vector<Hold> holds_;
  Client client_;
};

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(client, bytes) { holdfast::fuzz::Play(holdfast::fuzz::Input(bytes)).run(); }
