// SPDX-License-Identifier: Apache-2.0
#include "lock/renew/watchdog.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <unordered_map>
#include <utility>

#include "base/location.hpp"
#include "lock/hold/hold_events.hpp"
#include "lock/runtime/runtime.hpp"

namespace holdfast::engine {

using base::Clock;

/// Calls the loop, from another thread: there is something due that it does not know of, or is late for.
struct Watchdog::LookNow final : Loop::Task {
  explicit LookNow(Watchdog& whose) : watchdog(whose) {}
  void run() override {
    posted.store(false);
    watchdog.on_alarm();
  }
  Watchdog& watchdog;
  std::atomic<bool> posted{false};  // and has not run
};

Watchdog::Watchdog(Runtime& runtime)
    : runtime_(runtime),
      confirmations_(runtime),
      loss_watch_(runtime),
      armed_(base::cluster_of(runtime.config()) ? ArmedHolds::Slots::of_a_cluster : ArmedHolds::Slots::none),
      alarm_(runtime.loop().schedule(), [this] { on_alarm(); }),
      look_now_(std::make_shared<LookNow>(*this)) {}

Watchdog::~Watchdog() = default;

// ---- when to look ----

void Watchdog::arm(const std::shared_ptr<Tenancy>& hold) {
  const ArmedHolds::Wakes wakes = armed_.add(*hold);
  if (wakes.signal_thread) runtime_.signals().wake();
  if (wakes.loop) call_loop();
}

void Watchdog::call_loop() {
  if (!look_now_->posted.exchange(true)) runtime_.loop().post(look_now_);
}

TimePoint Watchdog::look_at_deadlines() noexcept {
  bool late = false;
  const TimePoint next = armed_.look_at_deadlines(late);
  if (late) call_loop();
  return next;
}

void Watchdog::set_alarm() noexcept {
  if (runtime_.over()) return;
  if (const std::optional<TimePoint> next = armed_.earlier_alarm()) alarm_.set(*next);
}

void Watchdog::on_alarm() noexcept {
  Holds due;
  try {
    armed_.add_due(due);
  } catch (const std::bad_alloc&) {
    // Those for which there is memory; the others are late, and are checked next.
  }
  look(due, When::soon);
}

void Watchdog::on_connected(const redis::Shard& shard) {
  confirmations_.end_era(shard);
  Holds holds = armed();
  std::erase_if(holds, [&](const auto& hold) { return !hold->target()->stands_on(shard); });
  renew_at_once(holds);
}

void Watchdog::on_acks_connected(const redis::Shard& shard) {
  confirmations_.on_connected(shard);
  Holds holds = armed();
  std::erase_if(holds, [&](const auto& hold) { return !hold->acks().wanted() || !hold->target()->stands_on(shard); });
  renew_at_once(holds);
}

void Watchdog::renew_at_once(const Holds& holds) {
  const TimePoint now = Clock::now();
  for (const std::shared_ptr<Tenancy>& hold : holds) hold->on_reconnect(now);
  look(holds, When::due);
}

/// The notices come first: what they check comes to nothing if the renewals find it.
void Watchdog::on_moved(const redis::cluster::SlotSet& slots) {
  confirmations_.on_moved(slots);
  loss_watch_.on_moved(slots);
  std::optional<Holds> holds = armed_.in(slots);
  if (!holds) holds = armed();
  std::erase_if(*holds, [&](const auto& hold) { return !hold->target()->lies_in(runtime_, slots); });
  const TimePoint now = Clock::now();
  for (const std::shared_ptr<Tenancy>& hold : *holds) engine::on_moved(*hold, now);
  look(*holds, When::due);
}

// ---- a look ----

template <class... Which>
void Watchdog::reschedule(const Which&... which) noexcept {
  armed_.move(which...);
  set_alarm();
}

void Watchdog::look(const Holds& holds, When when) noexcept {
  for (const std::shared_ptr<Tenancy>& hold : holds) watch_if_it_lasts(hold, when);
  renew_due(holds, when);
  reschedule(holds);
}

void Watchdog::watch_if_it_lasts(const std::shared_ptr<Tenancy>& hold, When when) noexcept {
  const Duration early = when == When::soon ? batching_window(hold->lease()) : Duration{};
  if (!hold->begin_watch(Clock::now(), early)) return;
  try {
    hold->target()->watch(hold);
  } catch (...) {
    // Out of memory: a renewal or its deadline finds its loss.
  }
}

// ---- renewals ----

void Watchdog::renew_due(const Holds& holds, When when) noexcept {
  Batch chosen;  // perhaps others as well, of the same slots
  try {
    try_to_renew_due(holds, when, chosen);
  } catch (...) {
    const TimePoint now = Clock::now();
    for (const std::shared_ptr<Tenancy>& hold : holds) on_unanswered(*hold, now, {});
    unanswered(chosen, now);
    reschedule(chosen, &Due::hold);
  }
}

void Watchdog::try_to_renew_due(const Holds& holds, When when, Batch& chosen) {
  const TimePoint now = Clock::now();
  chosen.reserve(holds.size());
  for (const std::shared_ptr<Tenancy>& hold : holds) {
    const Duration window = when == When::soon ? batching_window(hold->lease()) : Duration{};
    if (on_time(*hold, now, window) != HoldFsm::Todo::renew) continue;
    if (const std::optional<BatchPlace> place = hold->target()->batch_place()) {
      chosen.push_back({hold, *place});
    } else {
      renew_alone(hold, now);
    }
  }
  if (when == When::soon && runtime_.router().only_shard() == nullptr) choose_in_same_slots(chosen, now);
  send_in_batches(chosen, when, now);
}

/// A slot comes as early as the first hold of it that is due: if there is much to renew in little time, the hold that
/// has the least time left must not come last.
void Watchdog::choose_in_same_slots(Batch& chosen, TimePoint now) {
  std::unordered_map<std::uint16_t, Batch> groups;
  std::vector<std::uint16_t> slots;  // of the groups, in order
  Duration window{};
  for (const Due& due : chosen) {
    window = std::max(window, slot_window(due.hold->lease()));
    Batch& group = groups[due.place.slot];
    if (group.empty()) slots.push_back(due.place.slot);
    group.push_back(due);
  }
  const Holds near = armed_.due_in(slots, now + window);
  chosen.reserve(chosen.size() + near.size());
  for (const std::shared_ptr<Tenancy>& hold : near) {
    const BatchPlace place = *hold->target()->batch_place();
    Batch& group = groups[place.slot];
    const auto shares = [&](const Due& other) {
      return &other.hold->target()->plan() == &hold->target()->plan() && other.hold->lease() == hold->lease();
    };
    if (std::ranges::none_of(group, shares)) continue;
    if (on_time(*hold, now, slot_window(hold->lease())) != HoldFsm::Todo::renew) continue;
    chosen.push_back({hold, place});
    group.push_back(chosen.back());
  }
  auto next = chosen.begin();
  for (const std::uint16_t slot : slots) next = std::ranges::move(groups[slot], next).out;
}

void Watchdog::send_in_batches(const Batch& chosen, When when, TimePoint now) {
  // One write is for one server, one kind and one lease; there are few of each. A command is for at most so many locks
  // of one slot, and a write has as many of other slots before it.
  struct Write {
    const redis::Shard* shard;
    const Plan* plan;
    milliseconds lease;
    Acks acks;
    KeyWatch* way;
    std::uint16_t slot = 0;
    std::size_t locks = 0;
    std::size_t in_slot = 0;  // of these locks
    Batch batch{};
  };
  std::vector<Write> writes;
  const auto send_off = [&](Write& write) {
    write.locks = write.in_slot = 0;
    renew(std::exchange(write.batch, {}), now, write.way);
  };
  const std::size_t most = runtime_.config().renewal_batch;
  for (const Due& due : chosen) {
    const Tenancy& hold = *due.hold;
    const Plan& plan = hold.target()->plan();
    KeyWatch* const way = way_of(due, when);
    const auto fits = [&](const Write& write) {
      return write.shard == due.place.shard && write.plan == &plan && write.lease == hold.lease() &&
             write.acks == hold.acks() && write.way == way;
    };
    auto write = std::ranges::find_if(writes, fits);
    if (write == writes.end())
      write = writes.insert(write, Write{due.place.shard, &plan, hold.lease(), hold.acks(), way});
    if (std::exchange(write->slot, due.place.slot) != due.place.slot) {
      write->in_slot = 0;
      if (write->locks >= most) send_off(*write);
    }
    write->batch.push_back(due);
    write->locks += due.place.locks;
    write->in_slot += due.place.locks;
    if (write->in_slot >= most) send_off(*write);
  }
  for (Write& write : writes) {
    if (!write.batch.empty()) send_off(write);
  }
}

/// There is no order between two lanes, so a writer that may go on as a reader must not be renewed as a writer there.
/// What is urgent goes to the server that takes the writes.
KeyWatch* Watchdog::way_of(const Due& due, When when) {
  const Tenancy& hold = *due.hold;
  const bool may_share = hold.target()->plan().transitions.share != nullptr && hold.ask().mode == wire::Mode::exclusive;
  if (when != When::soon || may_share || hold.acks().wanted() || !hold.steady()) return nullptr;
  return loss_watch_.way_for_renewals(*due.place.shard);
}

namespace {

/// The keys whose changes the server is to report.
std::vector<std::string> watched_keys(const Plan& plan, std::vector<wire::Renewal>&& renewals) {
  std::vector<std::string> keys;
  keys.reserve(renewals.size());
  for (wire::Renewal& each : renewals) keys.push_back(owners_key(plan.questions, std::move(each.key)));
  return keys;
}

bool executed(const redis::Result& result) {
  return result.delivery == redis::Delivery::answered && std::ranges::none_of(result.replies, &base::Reply::is_error);
}

}  // namespace

void Watchdog::renew(Batch batch, TimePoint now, KeyWatch* way) {
  std::erase_if(batch, [](const Due& due) { return due.hold->ended(); });
  if (batch.empty()) return;
  if (runtime_.router().only_shard() == nullptr) std::ranges::sort(batch, {}, [](auto& due) { return due.place.slot; });
  Duration late{};
  for (const Due& due : batch) late = std::max(late, due.hold->lateness(now));
  runtime_.reporter().meter.on_renewals(late);
  if (!batch.front().hold->acks().wanted()) return send(std::move(batch), now, late, way);
  each_command(batch, [&](Part command) { renew_with_acks({command.begin(), command.end()}, late); });
}

template <class Each>
void Watchdog::each_command(Part batch, const Each& each) {
  for (Part rest = batch; !rest.empty();) {
    std::size_t size = 1;
    while (size < rest.size() && rest[size].place.slot == rest[0].place.slot) ++size;
    each(rest.first(size));
    rest = rest.subspan(size);
  }
}

void Watchdog::send(Batch batch, TimePoint now, Duration late, KeyWatch* way) {
  const Tenancy& first = *batch.front().hold;
  const Plan& plan = first.target()->plan();
  const Duration timeout = renewal_timeout(first.lease(), runtime_.config().timing.command_timeout);
  redis::Request request{.commands = {}, .timeout = timeout, .operation = redis::Operation::renew};
  std::vector<KeyWatch::Renewal> watched;
  each_command(batch, [&](Part its) {
    std::vector<wire::Renewal> renewals = renewals_of(its);
    base::Command command = plan.transitions.renew(renewals, first.lease());
    if (way != nullptr) {
      watched.push_back({std::move(command), watched_keys(plan, std::move(renewals))});
    } else {
      request.commands.push_back(std::move(command));
    }
  });
  if (way != nullptr) {
    return way->renew(std::move(watched), timeout,
                      [this, batch = std::move(batch), late, until = now + timeout](const redis::Result& result) {
                        if (executed(result) || Clock::now() >= until) return on_reply(batch, result, late);
                        fenced(batch, [&] { renew(batch, Clock::now()); });  // on the usual way
                      });
  }
  runtime_.send(std::move(request), [this, keep = runtime_.keep_alive(), batch = std::move(batch),
                                     late](const redis::Result& result) { on_reply(batch, result, late); });
}

void Watchdog::renew_with_acks(Batch batch, Duration late) {
  const Tenancy& first = *batch.front().hold;
  const BatchPlace place = *first.target()->batch_place();  // it may have moved
  const Acks acks = first.acks();
  Confirm confirm = confirmations_.confirm_of(renewals_of(batch), first.target()->plan(), place.slot, first.lease());
  confirm.done = [this, batch = std::move(batch), late](const Confirmed& confirmed) {
    fenced(batch, [&] { tell_renewed(tell(batch, confirmed), late); });
  };
  confirmations_.ask(*place.shard, acks, std::move(confirm));
}

std::vector<wire::Renewal> Watchdog::renewals_of(Part batch) {
  runtime_.reporter().add(&Counters::renewal_batches);
  std::vector<wire::Renewal> renewals;
  renewals.reserve(locks_of(batch));
  for (const Due& due : batch) due.hold->target()->add_renewals(renewals, due.hold->owner());
  return renewals;
}

std::size_t Watchdog::locks_of(Part batch) {
  std::size_t locks = 0;
  for (const Due& due : batch) locks += due.place.locks;
  return locks;
}

void Watchdog::renew_alone(const std::shared_ptr<Tenancy>& hold, TimePoint now) {
  runtime_.reporter().add(&Counters::renewal_batches);
  runtime_.reporter().meter.on_renewals(hold->lateness(now));
  hold->target()->renew(hold, hold->lease(),
                        [this, weak = runtime_.client(), hold, late = hold->lateness(now)](const Renewed& renewed) {
                          // It may be another client's thread that says so, perhaps after this client has closed.
                          const std::shared_ptr<void> client = weak.lock();
                          if (!client || runtime_.unusable()) return;
                          runtime_.loop().defer([this, still = std::weak_ptr(hold), renewed, late] {
                            if (const auto armed = still.lock()) on_renewed_alone(armed, renewed, late);
                          });
                        });
}

// ---- what the server has said ----

void Watchdog::on_renewed_alone(const std::shared_ptr<Tenancy>& hold, const Renewed& renewed, Duration late) {
  const TimePoint now = Clock::now();
  switch (renewed.kind) {
    case Renewed::Kind::extended:
      tell_renewed(1, late);
      on_renewed(*hold, renewed.sent_at, now, renewed.acks_era);
      break;
    case Renewed::Kind::gone:
      on_gone(*hold, renewed.sent_at, now);
      break;
    case Renewed::Kind::unanswered:
      runtime_.reporter().add(&Counters::renewal_failures);
      on_unanswered(*hold, now, renewed.cause);
      break;
  }
  reschedule(std::span(&hold, 1));
}

template <class Work>
void Watchdog::fenced(Part batch, const Work& work) noexcept {
  try {
    work();
  } catch (...) {
    unanswered(batch, Clock::now());
  }
  reschedule(batch, &Due::hold);
}

void Watchdog::unanswered(Part batch, TimePoint now) noexcept {
  for (const Due& due : batch) on_unanswered(*due.hold, now, {});
}

void Watchdog::on_reply(Part batch, const redis::Result& result, Duration late) noexcept {
  fenced(batch, [&] {
    std::size_t renewed = 0;
    std::size_t command = 0;
    each_command(batch, [&](Part its) { renewed += tell(its, read_renewal(result, command++, locks_of(its))); });
    tell_renewed(renewed, late);
  });
}

std::size_t Watchdog::tell(Part batch, const Confirmed& found) {
  const TimePoint now = Clock::now();
  const bool answered = !found.extended.empty();
  // One that is refused must not cost the others.
  if (!answered && found.for_one && batch.size() > 1) {
    for (const Due& due : batch) renew({due}, now);
    return 0;
  }
  if (!answered || !found.acked) runtime_.reporter().add(&Counters::renewal_failures);
  std::size_t renewed = 0;
  auto next = found.extended.cbegin();
  for (const Due& due : batch) {
    const auto first = next;
    if (answered) next += static_cast<std::ptrdiff_t>(due.place.locks);
    if (answered && std::find(first, next, false) != next) {
      on_gone(*due.hold, found.sent_at, now);
    } else if (!answered || !found.acked) {
      on_unanswered(*due.hold, now, found.cause);
    } else {
      ++renewed;
      on_renewed(*due.hold, found.sent_at, now, found.era);
    }
  }
  return renewed;
}

void Watchdog::tell_renewed(std::size_t renewed, Duration late) {
  runtime_.reporter().add(&Counters::renewals, renewed);
  if (renewed > 0) runtime_.reporter().tell(&Observer::on_renewed, [&] { return RenewedEvent{renewed, late}; });
}

// ---- all of them ----

std::optional<Duration> Watchdog::lowest_validity() const {
  if (runtime_.in_child()) return {};  // none is valid here, and the schedule still has those that are gone
  return armed_.lowest_validity();
}

void Watchdog::stop() {
  alarm_.cancel();
  loss_watch_.stop();
  confirmations_.stop();
}

void Watchdog::drop_all() {
  confirmations_.drop_all();
  for (const std::shared_ptr<Tenancy>& hold : armed()) {
    disarm(*hold);
    hold->drop_watches();
  }
}

}  // namespace holdfast::engine
