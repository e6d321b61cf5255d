// SPDX-License-Identifier: Apache-2.0
#include "sim/crowd.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "kinds/fair_lock.hpp"
#include "redis/decide/resp.hpp"
#include "sim/model/keyspace.hpp"
#include "sim/model/transition_parts.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using base::Duration;
using base::TimePoint;
using engine::AcquireAction;
using engine::AcquireFsm;
using engine::AcquireTerms;
using engine::Attempt;
using engine::TargetView;
using std::chrono::milliseconds;

/// The scripts of a fair lock, at the model of a server.
class FairServer final : private ScriptHost {
 public:
  /// `heard`: a message to this owner; false: it reaches nobody.
  explicit FairServer(std::function<bool(std::string_view owner)> heard) : heard_(std::move(heard)) {}

  wire::AcquireReply acquire(const wire::Owner& owner, milliseconds lease, TimePoint now) {
    wire::AcquireCall call{{&names_, 1}, owner, lease};
    call.turn = kTurn;
    return wire::decode_acquire(run(wire::fair::acquire(call), now));
  }
  void release(const wire::Owner& owner, TimePoint now) {
    run(wire::fair::release({.names = {&names_, 1}, .owner = owner, .turn = kTurn}), now);
  }

  static constexpr milliseconds kTurn{1000};

 private:
  base::Reply run(const base::Command& command, TimePoint now) {
    keyspace_.set_now(std::chrono::floor<milliseconds>(now.time_since_epoch()).count());
    const auto keys = static_cast<std::size_t>(std::stoi(command.args.front()));
    const std::vector<std::string_view> words(command.args.begin() + 1, command.args.end());
    const Args all(words);
    std::string bytes;
    for (const KnownScript& known : fair_scripts()) {
      if (known.script == command.script) known.run(*this, all.first(keys), all.subspan(keys), bytes);
    }
    redis::Parser parser(redis::kMostOfReplies);
    redis::ReplyBuilder builder;
    while (!parser.done()) builder.add(parser.next(bytes).value());
    return builder.replies.front();
  }

  Keyspace& keyspace() override { return keyspace_; }
  std::int64_t publish(Channel, std::string_view channel, std::string_view) override {
    return heard_(channel.substr(names_.channel.size() + 1)) ? 1 : 0;
  }
  std::int64_t listeners(Channel, std::string_view) override { return 0; }
  bool has_all(Args) override { return true; }
  bool may(std::string_view) const override { return true; }

  const wire::LockNames names_ = wire::fair::names("crowd");
  const std::function<bool(std::string_view)> heard_;
  Keyspace keyspace_;
};

/// Everything happens in the order of time; each waiter takes the lock again and again.
class Crowd {
 public:
  explicit Crowd(const CrowdSetting& setting)
      : setting_(setting),
        clients_(static_cast<std::size_t>(setting.clients)),
        locks_(static_cast<std::size_t>(setting.names)) {
    for (std::size_t i = 0; i < clients_.size(); ++i) at(now_ + i * 200us, [this, i] { come(i); });
  }

  /// The second half is what counts.
  CrowdFound run() {
    const TimePoint start = now_, middle = start + setting_.time / 2;
    run_until(middle);
    for (std::size_t i = static_cast<std::size_t>(setting_.live); i < clients_.size(); ++i) clients_[i].frozen = true;
    found_ = {};
    run_until(start + setting_.time);
    return found_;
  }

 private:
  struct Client {
    std::optional<AcquireFsm> fsm;
    TimePoint came{};
    TimePoint busy_until{};
    std::uint64_t alarm = 0;  // which one counts
    std::size_t has = 0;      // which of the locks, once it is granted
    bool waiting = false, asking = false, missed = false, listens = false, frozen = false;
    wire::Owner owner{};  // of a fair lock, another one each time
  };
  struct Event {
    TimePoint at;
    std::uint64_t number;
    std::function<void()> run;
    bool operator<(const Event& other) const { return std::tie(at, number) > std::tie(other.at, other.number); }
  };

  void at(TimePoint when, std::function<void()> run) { events_.push({when, ++number_, std::move(run)}); }
  double chance() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  Duration way() { return std::chrono::duration_cast<Duration>(setting_.far * chance()); }

  void run_until(TimePoint end) {
    while (!events_.empty() && events_.top().at <= end) {
      const Event next = events_.top();
      events_.pop();
      now_ = next.at;
      next.run();
    }
    now_ = end;
  }

  void come(std::size_t i) {
    Client& client = clients_[i];
    if (client.frozen) return;
    client.came = now_;
    AcquireTerms terms{.command_timeout = 3s, .patience = 15s, .safety_poll = 2s, .jitter = chance()};
    if (setting_.fair) {
      terms.safety_poll = FairServer::kTurn;
      terms.own_channel = true;
      client.owner.text =
          "11111111-2222-8333-8444-" + std::to_string(100'000'000'000 + i) + ":" + std::to_string(++number_);
    }
    client.fsm.emplace(terms, now_);
    client.fsm->start();
    act(i, client.fsm->on_turn(now_, view(client)));
  }

  TargetView view(const Client& client) { return {.subscribed = client.listens, .busy_until = client.busy_until}; }

  void act(std::size_t i, const AcquireAction& action) {
    Client& client = clients_[i];
    ++client.alarm;
    if (action.kind == AcquireAction::Kind::attempt) {
      client.waiting = false;
      client.asking = true;
      client.missed = false;
      if (action.subscribe && !client.listens) ++listening_;
      client.listens = client.listens || action.subscribe;
      const bool counts = client.listens, polls = client.fsm->safety_polling(), says = action.publish_busy;
      return at(now_ + 250us, [=, this] { serve(i, counts, polls, says && setting_.said); });
    }
    client.waiting = true;
    if (std::exchange(client.missed, false)) return act(i, client.fsm->on_message(now_, view(client)));
    at(action.until, [this, i, alarm = client.alarm] {
      Client& its = clients_[i];
      if (its.alarm == alarm && !its.frozen) act(i, its.fsm->on_time(now_, view(its)));
    });
  }

  // ---- the server ----

  struct OneLock {
    TimePoint lease_ends{}, freed_at{1h};
  };

  /// The first that is free, or the one that ends soonest.
  std::size_t next_lock() const {
    const auto free = std::ranges::find_if(locks_, [this](const OneLock& each) { return each.lease_ends <= now_; });
    const auto soonest = std::ranges::min_element(locks_, {}, &OneLock::lease_ends);
    return static_cast<std::size_t>((free != locks_.end() ? free : soonest) - locks_.begin());
  }

  void serve(std::size_t i, bool counts, bool polls, bool says) {
    ++found_.scripts;
    if (polls) ++found_.polls;
    Attempt reply{.kind = Attempt::Kind::busy, .subscribed = clients_[i].listens};
    if (setting_.fair) {
      const wire::AcquireReply found = fair_.acquire(clients_[i].owner, setting_.lease, now_);
      reply.busy_for = found.busy_for.value_or(0ms);
      reply.listeners = found.listeners;
      if (found.granted) {
        reply.kind = Attempt::Kind::granted;
        grant(i);
      }
    } else if (const Duration left = locks_[next_lock()].lease_ends - now_; left <= Duration{}) {
      reply.kind = Attempt::Kind::granted;
      grant(i);
    } else {
      reply.busy_for = std::chrono::ceil<milliseconds>(left);
      if (counts) reply.listeners = listening_;
      if (says && setting_.names == 1)
        publish([left](Client& client, TimePoint now) { client.busy_until = now + left; }, false);
    }
    at(now_ + 250us, [this, i, reply] { hear(i, reply); });
  }

  void grant(std::size_t i) {
    ++found_.grants;
    clients_[i].has = next_lock();
    OneLock& lock = locks_[clients_[i].has];
    const TimePoint free_since = std::max(lock.freed_at, lock.lease_ends <= now_ ? lock.lease_ends : TimePoint{});
    const Duration idle = now_ - free_since;
    found_.idle_in_all += idle;
    found_.longest_idle = std::max(found_.longest_idle, idle);
    for (const Client& other : clients_) {
      if (!other.fsm || other.frozen || &other == &clients_[i]) continue;
      ++found_.pairs;
      if (other.came < clients_[i].came) ++found_.inversions;
    }
    lock.lease_ends = now_ + setting_.lease;
  }

  void hear(std::size_t i, const Attempt& reply) {
    Client& client = clients_[i];
    client.asking = false;
    if (reply.kind != Attempt::Kind::granted) {
      if (!client.frozen) act(i, client.fsm->on_attempt(now_, reply));
      return;
    }
    client.fsm.reset();
    ++client.alarm;
    if (chance() < setting_.killed) return at(now_ + 1s, [this, i] { come(i); });
    at(now_ + setting_.hold, [this, i] { release(i); });
  }

  void release(std::size_t i) {
    OneLock& lock = locks_[clients_[i].has];
    lock.freed_at = lock.lease_ends = now_;
    if (setting_.fair) {
      fair_.release(clients_[i].owner, now_);
    } else {
      publish([](Client& client, TimePoint) { client.busy_until = {}; }, true);
    }
    at(now_ + 1ms, [this, i] { come(i); });
  }

  void publish(const std::function<void(Client&, TimePoint)>& change, bool released) {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (!clients_[i].listens || chance() < setting_.lost) continue;
      at(now_ + way(), [=, this] {
        change(clients_[i], now_);
        notify(i, released);
      });
    }
  }

  void notify(std::size_t i, bool released) {
    Client& client = clients_[i];
    if (!client.fsm || client.frozen) return;
    if (released && client.asking) client.missed = true;
    if (!client.waiting) return;
    if (released) return act(i, client.fsm->on_message(now_, view(client)));
    if (client.fsm->lets_others_ask()) act(i, client.fsm->on_busy(now_, view(client)));
  }

  /// A message for one waiter of a fair lock.
  bool notify_owner(std::string_view owner) {
    const auto i = static_cast<std::size_t>(std::stoll(std::string(owner.substr(24, 12))) - 100'000'000'000);
    const Client& client = clients_[i];
    if (!client.listens || client.owner.text != owner) return false;
    if (chance() >= setting_.lost) at(now_ + way(), [=, this] { notify(i, true); });
    return true;
  }

  const CrowdSetting setting_;
  std::vector<Client> clients_;
  std::priority_queue<Event> events_;
  std::uint64_t number_ = 0;
  std::minstd_rand random_{1};
  TimePoint now_{1h};
  std::vector<OneLock> locks_;
  std::int64_t listening_ = 0;
  FairServer fair_{[this](std::string_view owner) { return notify_owner(owner); }};
  CrowdFound found_;
};

}  // namespace

CrowdFound play(const CrowdSetting& setting) { return Crowd(setting).run(); }

}  // namespace holdfast::test
