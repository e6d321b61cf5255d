#include "engine/watchdog.hpp"

#include <algorithm>

#include <holdfast/error.hpp>

#include "engine/core.hpp"
#include "redis/errors.hpp"
#include "wire/lock_calls.hpp"

namespace holdfast::engine {

using base::Clock;

Watchdog::Watchdog(Core& core, Settings settings)
    : core_(core), reporter_(core.reporter()), settings_(settings), timer_(core.loop().executor()) {}

void Watchdog::arm(const std::shared_ptr<HeldLock>& hold) {
  bool first = false;
  {
    const std::scoped_lock guard(mutex_);
    hold->scheduled = hold->due();
    hold->armed = hold;
    schedule_.insert(*hold);
    first = hold->scheduled < timer_at_;
  }
  if (first) core_.loop().defer([this] { set_timer(); });
}

void Watchdog::disarm(HeldLock& hold) {
  std::shared_ptr<HeldLock> keep;  // destroyed without the mutex
  const std::scoped_lock guard(mutex_);
  if (hold.schedule_hook.is_linked()) schedule_.erase(schedule_.iterator_to(hold));
  keep.swap(hold.armed);
}

std::vector<std::shared_ptr<HeldLock>> Watchdog::armed() const {
  Holds holds;
  const std::scoped_lock guard(mutex_);
  holds.reserve(schedule_.size());
  for (const HeldLock& hold : schedule_) holds.push_back(hold.armed);
  return holds;
}

void Watchdog::on_connected() {
  const Holds holds = armed();
  const TimePoint now = Clock::now();
  for (const std::shared_ptr<HeldLock>& hold : holds) hold->on_reconnect(now);
  look(holds, false);
}

TimePoint Watchdog::next_look() const {
  const std::scoped_lock guard(mutex_);
  return timer_at_;
}

void Watchdog::stop() {
  stopped_ = true;
  timer_.cancel();
}

void Watchdog::drop_all() {
  for (const std::shared_ptr<HeldLock>& hold : armed()) {
    disarm(*hold);
    hold->drop_watches();
  }
}

void Watchdog::set_timer() {
  if (stopped_) return;
  TimePoint next = TimePoint::max();
  {
    const std::scoped_lock guard(mutex_);
    if (!schedule_.empty()) next = schedule_.begin()->scheduled;
    // A timer that fires too early, for a hold that is gone, is cheaper than one that moves with every hold.
    if (next >= timer_at_) return;
    timer_at_ = next;
  }
  timer_.expires_at(next);
  timer_.async_wait([this, keep = core_.keep_alive()](boost::system::error_code error) {
    if (!error) on_timer();
  });
}

void Watchdog::on_timer() {
  Holds due;
  {
    const std::scoped_lock guard(mutex_);
    timer_at_ = TimePoint::max();
    const TimePoint now = Clock::now();
    if (!schedule_.empty() && schedule_.begin()->scheduled <= now) {
      // Take along what is due soon; each hold decides by its own lease whether that is soon enough.
      const Duration window = batching_window(schedule_.begin()->lease());
      for (const HeldLock& hold : schedule_) {
        if (hold.scheduled > now + window) break;
        due.push_back(hold.armed);
      }
    }
  }
  look(due, true);
}

void Watchdog::look(const Holds& holds, bool early) {
  const TimePoint now = Clock::now();
  // One command is for one kind and one lease; there are few of either.
  struct Batch {
    const Plan* plan;
    milliseconds lease;
    std::size_t locks = 0;
    Holds holds{};
  };
  std::vector<Batch> batches;
  for (const std::shared_ptr<HeldLock>& hold : holds) {
    const Duration window = early ? batching_window(hold->lease()) : Duration{};
    if (hold->on_time(now, window) != HoldFsm::Todo::renew) continue;
    const Target& target = *hold->target();
    const std::size_t locks = target.batched_locks();
    if (locks == 0) {
      renew_alone(hold, now);
      continue;
    }
    const auto fits = [&](const Batch& batch) { return batch.plan == &target.plan() && batch.lease == hold->lease(); };
    auto batch = std::ranges::find_if(batches, fits);
    if (batch == batches.end()) batch = batches.insert(batch, Batch{&target.plan(), hold->lease()});
    batch->holds.push_back(hold);
    batch->locks += locks;
    if (batch->locks >= settings_.batch) {
      renew(std::exchange(batch->holds, {}), now);
      batch->locks = 0;
    }
  }
  for (Batch& batch : batches) {
    if (!batch.holds.empty()) renew(std::move(batch.holds), now);
  }
  reschedule(holds);
}

void Watchdog::renew(Holds batch, TimePoint now) {
  std::vector<wire::Renewal> renewals;
  renewals.reserve(batch.size());
  const milliseconds lease = batch.front()->lease();
  Duration late{};
  for (const std::shared_ptr<HeldLock>& hold : batch) {
    hold->target()->add_renewals(renewals, hold->owner());
    late = std::max(late, hold->lateness(now));
  }
  Reporter::add(reporter_.count.renewal_batches);
  const Plan& plan = batch.front()->target()->plan();
  auto request = redis::Request::of(plan.renew(renewals, lease), renewal_timeout(lease, settings_.command_timeout));
  core_.send(std::move(request), [this, keep = core_.keep_alive(), batch = std::move(batch),
                                  late](const redis::Result& result) { on_reply(batch, result, late); });
}

void Watchdog::renew_alone(const std::shared_ptr<HeldLock>& hold, TimePoint now) {
  Reporter::add(reporter_.count.renewal_batches);
  hold->target()->renew(
      core_, hold,
      [this, weak = core_.weak_from_this(), hold, late = hold->lateness(now)](const Target::Renewed& renewed) {
        // It may be another client's thread that says so, perhaps after this client has closed.
        const std::shared_ptr<Core> core = weak.lock();
        if (!core || core->unusable()) return;
        core->loop().defer([this, still = std::weak_ptr(hold), renewed, late] {
          if (const auto armed = still.lock()) on_renewed_alone(armed, renewed, late);
        });
      });
}

void Watchdog::on_renewed_alone(const std::shared_ptr<HeldLock>& hold, const Target::Renewed& renewed, Duration late) {
  const TimePoint now = Clock::now();
  switch (renewed.kind) {
    case Target::Renewed::Kind::extended:
      Reporter::add(reporter_.count.renewals);
      reporter_.tell(&Observer::on_renewed, [&] { return RenewedEvent{1, late}; });
      hold->on_renewed(renewed.sent_at, now);
      break;
    case Target::Renewed::Kind::gone:
      hold->on_gone();
      break;
    case Target::Renewed::Kind::unanswered:
      Reporter::add(reporter_.count.renewal_failures);
      hold->on_unanswered(now, renewed.cause);
      break;
  }
  reschedule({hold});
}

void Watchdog::on_reply(const Holds& batch, const redis::Result& result, Duration late) {
  const TimePoint now = Clock::now();
  std::vector<bool> extended;  // lock by lock
  std::string cause = result.cause;
  if (result.delivery == redis::Delivery::answered) {
    std::size_t locks = 0;
    for (const std::shared_ptr<HeldLock>& hold : batch) locks += hold->target()->batched_locks();
    extended = wire::decode_renew(result.replies.front(), locks);
    if (extended.empty()) cause = result.replies.front().text;
    // The server checks all keys of a script before it runs: one that is not permitted any more must not cost the
    // others.
    if (extended.empty() && batch.size() > 1 && redis::classify(cause) == Errc::denied) {
      const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
      renew(Holds(batch.begin(), middle), now);
      renew(Holds(middle, batch.end()), now);
      return;
    }
  }
  if (extended.empty()) Reporter::add(reporter_.count.renewal_failures);
  std::size_t renewed = 0;
  auto next = extended.cbegin();
  for (const std::shared_ptr<HeldLock>& hold : batch) {
    if (extended.empty()) {
      hold->on_unanswered(now, cause);
      continue;
    }
    const auto first = next;
    next += static_cast<std::ptrdiff_t>(hold->target()->batched_locks());
    if (std::find(first, next, false) == next) {
      ++renewed;
      hold->on_renewed(result.sent_at, now);
    } else {
      hold->on_gone();
    }
  }
  Reporter::add(reporter_.count.renewals, renewed);
  if (renewed > 0) reporter_.tell(&Observer::on_renewed, [&] { return RenewedEvent{renewed, late}; });
  reschedule(batch);
}

void Watchdog::reschedule(const Holds& holds) {
  Holds dropped;  // destroyed without the mutex
  {
    const std::scoped_lock guard(mutex_);
    for (const std::shared_ptr<HeldLock>& hold : holds) {
      if (!hold->armed) continue;  // disarmed meanwhile
      schedule_.erase(schedule_.iterator_to(*hold));
      if (hold->ended()) {
        dropped.push_back(std::move(hold->armed));
        continue;
      }
      hold->scheduled = hold->due();
      schedule_.insert(*hold);
    }
  }
  set_timer();
}

}  // namespace holdfast::engine
