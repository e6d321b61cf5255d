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

/// Everything happens in the order of time; each waiter takes the lock again and again.
class Crowd {
 public:
  explicit Crowd(const CrowdSetting& setting) : setting_(setting), clients_(static_cast<std::size_t>(setting.clients)) {
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
    bool waiting = false, asking = false, missed = false, listens = false, frozen = false;
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
    client.fsm.emplace(AcquireTerms{.command_timeout = 3s, .patience = 15s, .safety_poll = 2s, .jitter = chance()},
                       now_);
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

  bool taken() const { return now_ < lease_ends_; }

  void serve(std::size_t i, bool counts, bool polls, bool says) {
    ++found_.scripts;
    if (polls) ++found_.polls;
    Attempt reply{.kind = Attempt::Kind::busy, .subscribed = clients_[i].listens};
    if (!taken()) {
      reply.kind = Attempt::Kind::granted;
      grant(i);
    } else {
      reply.busy_for = std::chrono::ceil<milliseconds>(lease_ends_ - now_);
      if (counts) reply.listeners = listening_;
      if (says)
        publish([left = lease_ends_ - now_](Client& client, TimePoint now) { client.busy_until = now + left; }, false);
    }
    at(now_ + 250us, [this, i, reply] { hear(i, reply); });
  }

  void grant(std::size_t i) {
    ++found_.grants;
    const TimePoint free_since = std::max(freed_at_, free_from());
    const Duration idle = now_ - free_since;
    found_.idle_in_all += idle;
    found_.longest_idle = std::max(found_.longest_idle, idle);
    for (const Client& other : clients_) {
      if (!other.fsm || other.frozen || &other == &clients_[i]) continue;
      ++found_.pairs;
      if (other.came < clients_[i].came) ++found_.inversions;
    }
    lease_ends_ = now_ + setting_.lease;
  }
  TimePoint free_from() const { return lease_ends_ <= now_ ? lease_ends_ : TimePoint{}; }

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
    freed_at_ = lease_ends_ = now_;
    publish([](Client& client, TimePoint) { client.busy_until = {}; }, true);
    at(now_ + 1ms, [this, i] { come(i); });
  }

  void publish(const std::function<void(Client&, TimePoint)>& change, bool released) {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (!clients_[i].listens || chance() < setting_.lost) continue;
      at(now_ + way(), [=, this] {
        Client& client = clients_[i];
        change(client, now_);
        if (!client.fsm || client.frozen) return;
        if (released && client.asking) client.missed = true;
        if (!client.waiting) return;
        if (released) return act(i, client.fsm->on_message(now_, view(client)));
        if (client.fsm->lets_others_ask()) act(i, client.fsm->on_busy(now_, view(client)));
      });
    }
  }

  const CrowdSetting setting_;
  std::vector<Client> clients_;
  std::priority_queue<Event> events_;
  std::uint64_t number_ = 0;
  std::minstd_rand random_{1};
  TimePoint now_{1h};
  TimePoint lease_ends_{}, freed_at_{1h};
  std::int64_t listening_ = 0;
  CrowdFound found_;
};

}  // namespace

CrowdFound play(const CrowdSetting& setting) { return Crowd(setting).run(); }

}  // namespace holdfast::test
