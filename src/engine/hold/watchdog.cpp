#include "engine/hold/watchdog.hpp"

#include <algorithm>

#include <holdfast/error.hpp>

#include "engine/client/core.hpp"
#include "redis/failures/errors.hpp"
#include "wire/lock_calls.hpp"

namespace holdfast::engine {

using base::Clock;

namespace {

/// The loop looks first; what it has not looked at by then is late.
constexpr milliseconds kBehindTheLoop{1};
/// As long as holds are late, they are looked at so often.
constexpr milliseconds kWhileLate{5};

}  // namespace

/// From the signals' thread to the loop, when that is behind.
struct Watchdog::LookNow final : Loop::Task {
  explicit LookNow(Watchdog& whose) : watchdog(whose) {}
  void run() override {
    watchdog.called_.store(false);
    watchdog.on_timer();
  }
  Watchdog& watchdog;
};

Watchdog::Watchdog(Core& core, Settings settings)
    : core_(core),
      reporter_(core.reporter()),
      settings_(settings),
      timer_(core.loop().executor()),
      look_now_(std::make_shared<LookNow>(*this)) {}

Watchdog::~Watchdog() = default;

void Watchdog::arm(const std::shared_ptr<HeldLock>& hold) {
  bool first = false;
  bool unwatched = false;
  {
    const base::Guard guard(mutex_);
    hold->scheduled = hold->due();
    hold->armed = hold;
    schedule_.insert(*hold);
    first = hold->scheduled < timer_at_;
    // The watch wakes up now and then anyway, and is not called for later deadlines: few holds, if any, call it.
    unwatched = hold->scheduled < watched_until_;
    if (unwatched) watched_until_ = hold->scheduled;
  }
  if (unwatched) core_.signals().wake();
  if (first && !called_.exchange(true)) core_.loop().post(look_now_);
}

TimePoint Watchdog::look_at_deadlines() noexcept {
  bool late = false;
  for (;;) {
    std::shared_ptr<HeldLock> lost;
    {
      const base::Guard guard(mutex_);
      if (watched_until_ == TimePoint::max()) break;
      const TimePoint now = Clock::now();
      if (now < watched_until_ + kBehindTheLoop) break;
      lost = take_expired(now, late);
    }
    if (!lost) break;
    lost->announce_expired();
  }
  if (late && !called_.exchange(true)) core_.loop().post(look_now_);
  const base::Guard guard(mutex_);
  return watched_until_ == TimePoint::max() ? TimePoint::max() : watched_until_ + kBehindTheLoop;
}

/// One that has just been lost, out of the schedule. If there is none: decides when to look next.
std::shared_ptr<HeldLock> Watchdog::take_expired(TimePoint now, bool& late) {
  late = false;
  TimePoint next = TimePoint::max();
  for (HeldLock& hold : schedule_) {
    if (hold.scheduled > now) {
      next = hold.scheduled;
      break;
    }
    if (hold.ended()) continue;
    late = true;
    if (!hold.expire(now)) continue;
    schedule_.erase(schedule_.iterator_to(hold));
    return std::move(hold.armed);
  }
  const TimePoint looked = Clock::now();  // a million of them take a while, in which nobody else comes in
  watched_until_ = late ? looked + std::max<Duration>(kWhileLate, 20 * (looked - now)) : next;
  return nullptr;
}

void Watchdog::disarm(HeldLock& hold) {
  std::shared_ptr<HeldLock> keep;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  if (hold.schedule_hook.is_linked()) schedule_.erase(schedule_.iterator_to(hold));
  keep.swap(hold.armed);
}

std::vector<std::shared_ptr<HeldLock>> Watchdog::armed() const {
  Holds holds;
  const base::Guard guard(mutex_);
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
  const base::Guard guard(mutex_);
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

void Watchdog::set_timer() noexcept {
  if (stopped_) return;
  TimePoint next = TimePoint::max();
  {
    const base::Guard guard(mutex_);
    if (!schedule_.empty()) next = schedule_.begin()->scheduled;
    // A timer that fires too early, for a hold that is gone, is cheaper than one that moves with every hold.
    if (next >= timer_at_) return;
    timer_at_ = next;
  }
  try {
    timer_.expires_at(next);
    timer_.async_wait([this, keep = core_.keep_alive()](boost::system::error_code error) {
      if (!error) on_timer();
    });
  } catch (...) {
    // Out of memory: whoever watches the deadlines sees that this is late, and calls it.
    const base::Guard guard(mutex_);
    timer_at_ = TimePoint::max();
  }
}

void Watchdog::on_timer() noexcept {
  Holds due;
  try {
    const base::Guard guard(mutex_);
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
  } catch (const std::bad_alloc&) {
    // Those for which there is memory; the others are late, and looked at next.
  }
  look(due, true);
}

void Watchdog::look(const Holds& holds, bool early) noexcept {
  try {
    ask_for(holds, early);
  } catch (...) {
    unanswered(holds, Clock::now());
  }
  reschedule(holds);
}

void Watchdog::unanswered(const Holds& holds, TimePoint now) noexcept {
  for (const std::shared_ptr<HeldLock>& hold : holds) hold->on_unanswered(now, {});
}

void Watchdog::ask_for(const Holds& holds, bool early) {
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
  reschedule(Holds(1, hold));
}

void Watchdog::on_reply(const Holds& batch, const redis::Result& result, Duration late) noexcept {
  try {
    read_reply(batch, result, late);
  } catch (...) {
    unanswered(batch, Clock::now());
  }
  reschedule(batch);
}

void Watchdog::read_reply(const Holds& batch, const redis::Result& result, Duration late) {
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
    if (extended.empty() && batch.size() > 1 && redis::classify(cause).code == Errc::denied) {
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
}

/// The caller keeps them alive: none goes with the mutex locked.
void Watchdog::reschedule(const Holds& holds) noexcept {
  {
    const base::Guard guard(mutex_);
    for (const std::shared_ptr<HeldLock>& hold : holds) {
      if (!hold->armed) continue;  // disarmed meanwhile
      schedule_.erase(schedule_.iterator_to(*hold));
      if (hold->ended()) {
        hold->armed.reset();
        continue;
      }
      hold->scheduled = hold->due();
      schedule_.insert(*hold);
    }
  }
  set_timer();
}

}  // namespace holdfast::engine
