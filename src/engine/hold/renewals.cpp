#include "engine/hold/renewals.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "engine/hold/confirmations.hpp"
#include "engine/hold/hold_events.hpp"
#include "engine/hold/tenancy.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

LossWatch::LossWatch(Runtime& runtime) : runtime_(runtime) {}

void LossWatch::watch(KeyWatch::Entry entry) {
  if (stopped_ || !runtime_.config().loss_notice) return;
  of(runtime_.router().shard_of(entry.key)).add(std::move(entry));
}

KeyWatch& LossWatch::of(redis::Shard& shard) {
  return by_shard_.try_emplace(&shard, runtime_, shard, [this, &shard](const Doubt& doubt) { on_doubt(shard, doubt); })
      .first->second;
}

void LossWatch::on_connected(redis::Shard& shard) { of(shard).on_connected(); }
void LossWatch::on_disconnected(redis::Shard& shard) { of(shard).on_disconnected(); }
void LossWatch::on_invalidated(redis::Shard& shard, const base::Reply& keys) { of(shard).on_invalidated(keys); }

void LossWatch::on_main(redis::Shard& shard, bool connected) {
  if (const auto found = by_shard_.find(&shard); found != by_shard_.end()) found->second.on_main(connected);
}

/// In a cluster a command renews the few holds of one slot, which is not worth a transaction.
KeyWatch* LossWatch::way_for_renewals(redis::Shard& shard) {
  if (runtime_.router().only_shard() == nullptr) return nullptr;
  const auto found = by_shard_.find(&shard);
  return found != by_shard_.end() && found->second.takes_renewals() ? &found->second : nullptr;
}

void LossWatch::on_moved(const redis::cluster::SlotSet& slots) {
  redis::Router& router = runtime_.router();
  std::vector<KeyWatch::Entry> moved;
  for (auto& [shard, keys] : by_shard_) {
    redis::cluster::SlotSet gone;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      gone[slot] = slots[slot] && &router.shard_of_slot(static_cast<std::uint16_t>(slot)) != shard;
    }
    keys.take(moved, gone);
  }
  for (KeyWatch::Entry& each : moved) watch(std::move(each));
}

void LossWatch::stop() {
  stopped_ = true;
  for (auto& [shard, keys] : by_shard_) keys.stop();
}

void LossWatch::on_doubt(redis::Shard& shard, const Doubt& doubt) {
  if (doubt.hold->on_doubt(base::Clock::now())) return renew(doubt.hold);
  ask(shard, doubt);
}

/// On the loop of the hold's own client.
void LossWatch::renew(const std::shared_ptr<Tenancy>& hold) {
  hold->runtime()->hand_over([weak = std::weak_ptr(hold)] {
    if (const std::shared_ptr<Tenancy> still = weak.lock()) still->target()->look_now(still);
  });
}

void LossWatch::ask(redis::Shard& shard, const Doubt& doubt) {
  wire::Owner owner = doubt.hold->owner();
  auto request = redis::Request::of(doubt.hold->target()->plan().questions.ask_owner(doubt.key, owner),
                                    runtime_.config().command_timeout);
  runtime_.send(std::move(request),
                [this, keep = runtime_.keep_alive(), &shard, key = doubt.key, weak = std::weak_ptr(doubt.hold),
                 spare = doubt.spare, owner = std::move(owner)](const redis::Result& result) {
                  const std::shared_ptr<Tenancy> hold = weak.lock();
                  if (stopped_ || !hold) return;
                  const Plan& plan = hold->target()->plan();
                  if (KeyWatch::read(result, 0, plan, owner) != KeyWatch::Said::not_ours) return;
                  if (owner.ask != hold->ask() || hold->is_being_shared()) return;
                  if (!of(shard).remove(key, *hold) || (spare && spare->fetch_sub(1) > 0)) return;
                  on_gone(*hold, base::Clock::now(), base::Clock::now());
                });
}

using base::Clock;

namespace {

using Part = std::span<const std::shared_ptr<Tenancy>>;

std::size_t locks_of(Part holds) {
  std::size_t locks = 0;
  for (const std::shared_ptr<Tenancy>& hold : holds) locks += hold->target()->locks();
  return locks;
}

std::vector<wire::Renewal> renewals_of(Part holds) {
  std::vector<wire::Renewal> renewals;
  renewals.reserve(locks_of(holds));
  for (const std::shared_ptr<Tenancy>& hold : holds) hold->target()->add_renewals(renewals, hold->owner());
  return renewals;
}

/// Of a hold that has a place in a batch.
std::uint16_t slot_of(const std::shared_ptr<Tenancy>& hold) { return hold->target()->batch_place()->slot; }

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

Renewals::Renewals(Runtime& runtime, Confirmations& confirmations, LossWatch& loss_watch, Hooks hooks)
    : runtime_(runtime), confirmations_(confirmations), loss_watch_(loss_watch), hooks_(std::move(hooks)) {}

void Renewals::ask_for(const Holds& holds, When when) noexcept {
  Holds chosen;  // perhaps others as well, of the same slots
  try {
    try_to_ask_for(holds, when, chosen);
  } catch (...) {
    unanswered(holds, Clock::now());
    unanswered(chosen, Clock::now());
    hooks_.changed(chosen);
  }
}

void Renewals::unanswered(Part holds, TimePoint now) noexcept {
  for (const std::shared_ptr<Tenancy>& hold : holds) on_unanswered(*hold, now, {});
}

void Renewals::try_to_ask_for(const Holds& holds, When when, Holds& chosen) {
  const TimePoint now = Clock::now();
  chosen.reserve(holds.size());
  for (const std::shared_ptr<Tenancy>& hold : holds) {
    const Duration window = when == When::soon ? batching_window(hold->lease()) : Duration{};
    if (on_time(*hold, now, window) != HoldFsm::Todo::renew) continue;
    if (hold->target()->batch_place()) {
      chosen.push_back(hold);
    } else {
      renew_alone(hold, now);
    }
  }
  if (when == When::soon && runtime_.router().only_shard() == nullptr) choose_in_same_slots(chosen, now);
  send_in_batches(chosen, when, now);
}

/// A slot comes as early as the first hold of it that is due: if there is much to renew in little time, the hold that
/// has the least time left must not come last.
void Renewals::choose_in_same_slots(Holds& chosen, TimePoint now) {
  std::vector<Holds> groups;  // one for each slot
  std::vector<std::uint16_t> slots;
  std::unordered_map<std::uint16_t, std::size_t> places;  // of the slots, in both
  Duration window{};
  for (const std::shared_ptr<Tenancy>& hold : chosen) {
    window = std::max(window, slot_window(hold->lease()));
    const std::uint16_t slot = slot_of(hold);
    const auto [place, is_new] = places.try_emplace(slot, slots.size());
    if (is_new) {
      slots.push_back(slot);
      groups.emplace_back();
    }
    groups[place->second].push_back(hold);
  }
  const Holds near = hooks_.due_in_slots(slots, now + window);
  chosen.reserve(chosen.size() + near.size());
  for (const std::shared_ptr<Tenancy>& hold : near) {
    Holds& group = groups[places.find(slot_of(hold))->second];
    const auto shares = [&](const std::shared_ptr<Tenancy>& other) {
      return &other->target()->plan() == &hold->target()->plan() && other->lease() == hold->lease();
    };
    if (std::ranges::none_of(group, shares)) continue;
    if (on_time(*hold, now, slot_window(hold->lease())) != HoldFsm::Todo::renew) continue;
    chosen.push_back(hold);
    group.push_back(hold);
  }
  auto next = chosen.begin();
  for (Holds& group : groups) next = std::ranges::move(group, next).out;
}

void Renewals::send_in_batches(const Holds& chosen, When when, TimePoint now) {
  // One write is for one server, one kind and one lease; there are few of each. A command is for at most so many locks
  // of one slot, and a write has as many of other slots before it.
  struct Batch {
    const redis::Shard* shard;
    const Plan* plan;
    milliseconds lease;
    Acks acks;
    KeyWatch* way;
    std::uint16_t slot = 0;
    std::size_t locks = 0;
    std::size_t in_slot = 0;  // of these locks
    Holds holds{};
  };
  std::vector<Batch> batches;
  const auto send = [&](Batch& batch) {
    batch.locks = batch.in_slot = 0;
    renew(std::exchange(batch.holds, {}), now, batch.way);
  };
  const std::size_t most = runtime_.config().renewal_batch;
  for (const std::shared_ptr<Tenancy>& hold : chosen) {
    const Target& target = *hold->target();
    const BatchPlace place = *target.batch_place();
    KeyWatch* const way = way_of(*hold, place, when);
    const auto fits = [&](const Batch& batch) {
      return batch.shard == place.shard && batch.plan == &target.plan() && batch.lease == hold->lease() &&
             batch.acks == hold->acks() && batch.way == way;
    };
    auto batch = std::ranges::find_if(batches, fits);
    if (batch == batches.end())
      batch = batches.insert(batch, Batch{place.shard, &target.plan(), hold->lease(), hold->acks(), way});
    if (std::exchange(batch->slot, place.slot) != place.slot) {
      batch->in_slot = 0;
      if (batch->locks >= most) send(*batch);
    }
    batch->holds.push_back(hold);
    batch->locks += place.locks;
    batch->in_slot += place.locks;
    if (batch->in_slot >= most) send(*batch);
  }
  for (Batch& batch : batches) {
    if (!batch.holds.empty()) send(batch);
  }
}

/// There is no order between two lanes, so a writer that may go on as a reader must not be renewed as a writer there.
/// What is urgent goes to the server that takes the writes.
KeyWatch* Renewals::way_of(const Tenancy& hold, const BatchPlace& place, When when) {
  const bool may_share = hold.target()->plan().transitions.share != nullptr && hold.ask().mode == wire::Mode::exclusive;
  if (when != When::soon || may_share || hold.acks().wanted() || !hold.steady()) return nullptr;
  return loss_watch_.way_for_renewals(*place.shard);
}

void Renewals::renew(Holds batch, TimePoint now, KeyWatch* way) {
  std::erase_if(batch, [](const std::shared_ptr<Tenancy>& hold) { return hold->ended(); });
  if (batch.empty()) return;
  if (runtime_.router().only_shard() == nullptr) std::ranges::sort(batch, {}, slot_of);
  Duration late{};
  std::vector<std::size_t> sizes;  // of the commands, in holds
  for (std::size_t i = 0; i < batch.size(); ++i) {
    late = std::max(late, batch[i]->lateness(now));
    const bool same = i > 0 && slot_of(batch[i]) == slot_of(batch[i - 1]);
    if (!same) sizes.push_back(0);
    ++sizes.back();
  }
  Reporter::add(runtime_.reporter().count.renewal_batches, sizes.size());
  runtime_.reporter().meter.on_renewals(late);
  const Tenancy& first = *batch.front();
  const bool acks = first.acks().wanted();
  const Plan& plan = first.target()->plan();
  const Duration timeout = renewal_timeout(first.lease(), runtime_.config().command_timeout);
  redis::Request request{.commands = {}, .timeout = timeout, .operation = redis::Operation::renew};
  std::vector<KeyWatch::Renewal> watched;
  auto next = batch.begin();
  for (const std::size_t size : sizes) {
    const auto begin = next;
    next += static_cast<std::ptrdiff_t>(size);
    if (acks) {
      renew_with_acks(Holds(begin, next), late);
      continue;
    }
    std::vector<wire::Renewal> renewals = renewals_of({begin, next});
    base::Command command = plan.transitions.renew(renewals, first.lease());
    if (way != nullptr) {
      watched.push_back({std::move(command), watched_keys(plan, std::move(renewals))});
    } else {
      request.commands.push_back(std::move(command));
    }
  }
  if (acks) return;
  if (way != nullptr) {
    return way->renew(std::move(watched), timeout,
                      [this, batch = std::move(batch), sizes = std::move(sizes), late,
                       until = now + timeout](const redis::Result& result) {
                        if (executed(result) || Clock::now() >= until) return on_reply(batch, sizes, result, late);
                        fenced(batch, [&] { renew(batch, Clock::now()); });  // on the usual way
                      });
  }
  runtime_.send(std::move(request),
                [this, keep = runtime_.keep_alive(), batch = std::move(batch), sizes = std::move(sizes),
                 late](const redis::Result& result) { on_reply(batch, sizes, result, late); });
}

void Renewals::renew_with_acks(Holds batch, Duration late) {
  const Tenancy& first = *batch.front();
  const BatchPlace place = *first.target()->batch_place();
  const Acks acks = first.acks();
  Confirm confirm = confirmations_.confirm_of(renewals_of(batch), first.target()->plan(), place.slot, first.lease());
  confirm.done = [this, batch = std::move(batch), late](const Confirmed& confirmed) {
    fenced(batch, [&] { tell_renewed(tell(batch, confirmed), late); });
  };
  confirmations_.ask(*place.shard, acks, std::move(confirm));
}

void Renewals::renew_alone(const std::shared_ptr<Tenancy>& hold, TimePoint now) {
  Reporter::add(runtime_.reporter().count.renewal_batches);
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

void Renewals::on_renewed_alone(const std::shared_ptr<Tenancy>& hold, const Renewed& renewed, Duration late) {
  const TimePoint now = Clock::now();
  switch (renewed.kind) {
    case Renewed::Kind::extended:
      Reporter::add(runtime_.reporter().count.renewals);
      runtime_.reporter().tell(&Observer::on_renewed, [&] { return RenewedEvent{1, late}; });
      on_renewed(*hold, renewed.sent_at, now, renewed.acks_era);
      break;
    case Renewed::Kind::gone:
      on_gone(*hold, renewed.sent_at, now);
      break;
    case Renewed::Kind::unanswered:
      Reporter::add(runtime_.reporter().count.renewal_failures);
      on_unanswered(*hold, now, renewed.cause);
      break;
  }
  hooks_.changed(Holds(1, hold));
}

template <class Work>
void Renewals::fenced(const Holds& holds, const Work& work) noexcept {
  try {
    work();
  } catch (...) {
    unanswered(holds, Clock::now());
  }
  hooks_.changed(holds);
}

void Renewals::on_reply(const Holds& batch, const std::vector<std::size_t>& sizes, const redis::Result& result,
                        Duration late) noexcept {
  fenced(batch, [&] {
    std::size_t renewed = 0;
    Part rest = batch;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Part part = rest.first(sizes[i]);
      rest = rest.subspan(sizes[i]);
      renewed += tell(part, read_renewal(result, i, locks_of(part)));
    }
    tell_renewed(renewed, late);
  });
}

std::size_t Renewals::tell(Part batch, const Confirmed& found) {
  const TimePoint now = Clock::now();
  const bool answered = !found.extended.empty();
  // One that is refused must not cost the others.
  if (!answered && found.for_one && batch.size() > 1) {
    const Part half = batch.first(batch.size() / 2);
    const Part other_half = batch.subspan(half.size());
    renew(Holds(half.begin(), half.end()), now);
    renew(Holds(other_half.begin(), other_half.end()), now);
    return 0;
  }
  if (!answered || !found.acked) Reporter::add(runtime_.reporter().count.renewal_failures);
  std::size_t renewed = 0;
  auto next = found.extended.cbegin();
  for (const std::shared_ptr<Tenancy>& hold : batch) {
    const auto first = next;
    if (answered) next += static_cast<std::ptrdiff_t>(hold->target()->locks());
    if (answered && std::find(first, next, false) != next) {
      on_gone(*hold, found.sent_at, now);
    } else if (!answered || !found.acked) {
      on_unanswered(*hold, now, found.cause);
    } else {
      ++renewed;
      on_renewed(*hold, found.sent_at, now, found.era);
    }
  }
  return renewed;
}

void Renewals::tell_renewed(std::size_t renewed, Duration late) {
  Reporter::add(runtime_.reporter().count.renewals, renewed);
  if (renewed > 0) runtime_.reporter().tell(&Observer::on_renewed, [&] { return RenewedEvent{renewed, late}; });
}

}  // namespace holdfast::engine
