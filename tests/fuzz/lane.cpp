// SPDX-License-Identifier: Apache-2.0
// A lane (session, pipeline, connection, subscriptions) at a server that says anything, in any portions: each request
// is answered once, in time, with as many replies as it has commands; and portions change nothing.
#include "redis/connection/lane.hpp"

#include <array>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "fuzz/resp.hpp"
#include "fuzz/stage.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr std::array<const char*, 3> kChannels{"orders", "stock", "{orders}"};
constexpr std::array kKinds{"message",     "smessage",     "subscribe",  "ssubscribe",
                            "unsubscribe", "sunsubscribe", "invalidate", "odd"};
constexpr base::Duration kTimeout = 3s;
/// Requests of which each is sent by the handler of the one before.
constexpr int kInARow = 4;
constexpr int kMostSteps = 300;
constexpr std::size_t kMostRequests = 100;

class Play {
 public:
  /// `portion`: no more bytes than these arrive at once; 0: as they come.
  Play(Input input, std::size_t portion)
      : input_(input),
        portion_(portion),
        how_(input_.byte()),
        config_(settings(how_)),
        events_((how_ & 8U) != 0),
        subscriptions_(listeners_) {
    lane_.emplace(schedule_, config_, std::make_shared<redis::ConfiguredEndpoint>(config_), subscriptions_, events_);
    stage_.set_between([this] { lane_->flush(); });
  }

  /// What every request was told.
  std::string run() {
    if ((how_ & 16U) != 0) {
      lane_->start_at_rest({});
    } else {
      lane_->start({});
    }
    for (int i = 0; !input_.empty() && i < kMostSteps; ++i) step();
    stage_.pass_until(kInARow * kTimeout + 1ms, [this] { return open_ == 0; });
    require(open_ == 0, "each request is answered within its time");
    if ((how_ & 32U) != 0) {
      lane_->drop_all();
    } else {
      lane_->close();
    }
    stage_.settle();
    stage_.set_between([] {});
    lane_.reset();
    return told_;
  }

 private:
  static Config settings(std::uint8_t how) {
    Config config;
    config.client_name = (how & 1U) != 0 ? "holdfast:test" : "";
    config.database = (how & 2U) != 0 ? 3 : 0;
    if ((how & 4U) != 0) config.server = Servers{{{"127.0.0.1"}, {"other"}}};
    config.timing.subscription_linger = 500ms;
    return config;
  }

  struct Events final : redis::LaneEvents {
    explicit Events(bool takes) : takes_(takes) {}
    bool takes_misdirected() const override { return takes_; }
    void misdirected(redis::Misdirected&& what) override {
      if (what.result.delivery != redis::Delivery::answered) what.result.error = Errc::unreachable;
      what.handler(std::move(what.result));
    }

   private:
    const bool takes_;
  };

  // --- what happens ---

  void step() {
    switch (input_.below(16)) {
      case 0:
      case 1:
        return submit();
      case 2:
        return say(input_.text());
      case 3:
      case 4:
        return say(encoded(made_reply(input_)));
      case 5:
        return say_push();
      case 6:
        return log_in();
      case 7:
        return stage_.pass_to_next(10s);
      case 8:
        return stage_.pass(std::chrono::milliseconds(input_.byte() * 8));
      case 9:
        return stage_.hang_up();
      case 10:
        return static_cast<void>(input_.below(4) == 0 ? stage_.refuse() : stage_.accept());
      case 11:
        return use_channel();
      case 12:
        return command_lane();
      case 13:
        return static_cast<void>(stage_.hear());
      case 14:  // as a script answers that is not known
        return say("-NOSCRIPT No matching script.\r\n");
      default:
        return say("+OK\r\n");
    }
  }

  void say(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, portion_ == 0 ? bytes.size() : portion_);
      bytes.remove_prefix(part.size());
      stage_.say(part);
    }
    stage_.settle();
  }

  static std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
  }

  void say_push() {
    const char* const kind = kKinds.at(input_.below(kKinds.size()));
    const char* const channel = kChannels.at(input_.below(kChannels.size()));
    say(">3\r\n" + bulk(kind) + bulk(channel) + encoded(made_reply(input_, 3)));
  }

  /// As a primary does, to all that a login may ask.
  void log_in() {
    stage_.accept();
    say("%3\r\n" + bulk("id") + ":" + std::to_string(input_.below(3)) + "\r\n" + bulk("mode") +
        bulk(input_.coin() ? "cluster" : "standalone") + bulk("role") + bulk("master"));
    if (config_.database != 0) say("+OK\r\n");
    if (std::holds_alternative<Servers>(config_.server))
      say("*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n-ERR no such subcommand\r\n");
  }

  void submit() {
    if (requests_ == kMostRequests) return;
    redis::Request request;
    request.timeout = std::min<base::Duration>(kTimeout, std::chrono::milliseconds(1 + input_.byte() * 16));
    request.asking = input_.below(8) == 0;
    const std::size_t commands = request.asking ? 1 : 1 + input_.below(3);
    for (std::size_t i = 0; i < commands; ++i) {
      request.commands.push_back(input_.coin() ? base::Command{{"GET", "orders"}}
                                               : base::Command::call(wire::scripts::lock_acquire, "1", "orders"));
    }
    for (std::size_t i = input_.below(3); i > 0; --i) {
      request.subscribe.emplace_back(kChannels.at(input_.below(kChannels.size())));
    }
    constexpr std::array kWays{Publish::automatic, Publish::publish, Publish::spublish, Publish::both};
    request.publish = kWays.at(input_.below(kWays.size()));
    request.here = input_.below(4) == 0;
    send(std::move(request), input_.byte());
    stage_.settle();
  }

  /// `then`: what the handler does besides.
  void send(redis::Request request, std::uint8_t then) {
    const std::size_t number = ++requests_;
    ++open_;
    const std::size_t commands = request.commands.size();
    const auto told = std::make_shared<bool>(false);
    lane_->send(std::move(request), [this, number, commands, told, then](const redis::Result& result) {
      require(!std::exchange(*told, true), "a request is answered once");
      --open_;
      note(number, commands, result);
      if ((then & 7U) == 1 && requests_ < kMostRequests) {
        send(redis::Request::of({{"PING"}}, kTimeout), static_cast<std::uint8_t>(then >> 3U));
      }
      if ((then & 7U) == 2) throw std::bad_alloc();
    });
  }

  void note(std::size_t number, std::size_t commands, const redis::Result& result) {
    const bool answered = result.delivery == redis::Delivery::answered;
    require(!answered || result.replies.size() == commands, "there is a reply for each command");
    require(answered || result.error, "who is not answered is told why");
    told_ += std::to_string(number) + " " + std::to_string(static_cast<int>(result.delivery)) + " " +
             result.error.message() + (result.resent ? " resent" : "") + (result.subscribed ? " subscribed" : "") +
             (result.cannot_subscribe ? " refused" : "");
    for (const base::Reply& reply : result.replies) told_ += " " + encoded(reply);
    told_ += "\n";
  }

  void use_channel() {
    const char* const channel = kChannels.at(input_.below(kChannels.size()));
    if (uses_.size() < 8 && input_.coin()) {
      uses_.emplace_back(channel, listeners_->begin_use(channel, [this](redis::Busy) { told_ += "woken\n"; }));
    } else if (!uses_.empty()) {
      listeners_->end_use(uses_.back().first, uses_.back().second, stage_.now());
      uses_.pop_back();
    }
  }

  void command_lane() {
    switch (input_.below(6)) {
      case 0:
        lane_->set_needed(input_.coin());
        break;
      case 1:
        lane_->recover();
        break;
      case 2:
        lane_->refuse_waiting(Errc::denied, "by the test");
        break;
      case 3:
        if ((how_ & 8U) != 0) lane_->reroute();
        break;
      case 4:
        subscriptions_.expect_own(kChannels.at(input_.below(kChannels.size())));
        break;
      default:
        lane_->server();
    }
    stage_.settle();
  }

  Input input_;
  const std::size_t portion_;
  const std::uint8_t how_;
  const Config config_;
  Events events_;
  std::shared_ptr<redis::Listeners> listeners_ = std::make_shared<redis::Listeners>();
  redis::Subscriptions subscriptions_;
  std::vector<std::pair<const char*, std::uint64_t>> uses_;
  std::size_t requests_ = 0;
  std::size_t open_ = 0;
  std::string told_;
  Stage stage_;
  timing::Schedule schedule_{stage_.context().get_executor()};
  std::optional<redis::Lane> lane_;
};

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(lane, bytes) {
  using namespace holdfast::fuzz;
  Input input(bytes);
  const std::size_t portion = 1 + input.below(32);
  const std::string whole = Play(input, 0).run();
  const std::string parts = Play(input, portion).run();
  require(whole == parts, "portions change nothing", whole + "--- in portions:\n" + parts);
}
