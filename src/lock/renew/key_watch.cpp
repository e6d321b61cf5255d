// SPDX-License-Identifier: Apache-2.0
#include "lock/renew/key_watch.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "kinds/calls.hpp"
#include "lock/hold/hold_events.hpp"
#include "lock/queue/target.hpp"
#include "lock/runtime/runtime.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::engine {

namespace {

constexpr std::size_t kFewestBuckets = 64;

}  // namespace

std::uint32_t WatchedKeys::hash_of(std::string_view key) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(key));
}

WatchedKeys::Index WatchedKeys::add(std::string key, std::uint16_t slot, const std::shared_ptr<Tenancy>& hold,
                                    Which which, Spare spare) {
  if (used_ >= buckets_.size()) grow();
  const bool is_new = free_ == kEnd;
  const Index index = is_new ? static_cast<Index>(entries_.size()) : free_;
  const std::uint32_t hash = hash_of(key);
  if (is_new) entries_.emplace_back();
  if (which == kNone) {
    try {
      of_groups_.insert_or_assign(index, OfGroup{std::move(key), std::move(spare)});
    } catch (...) {
      if (is_new) entries_.pop_back();
      throw;
    }
  }
  Entry& entry = entries_[index];
  if (!is_new) free_ = entry.next;
  entry = {hold, hash, std::exchange(bucket_of(hash), index), slot, which, true};
  ++used_;
  return index;
}

void WatchedKeys::grow() {
  std::vector<Index> more(buckets_.empty() ? kFewestBuckets : 2 * buckets_.size(), kEnd);
  buckets_.swap(more);
  for (Index index = 0; index < entries_.size(); ++index) {
    Entry& entry = entries_[index];
    if (entry.used) entry.next = std::exchange(bucket_of(entry.hash), index);
  }
}

void WatchedKeys::erase(Index index) noexcept {
  Entry& entry = entries_[index];
  Index* link = &bucket_of(entry.hash);
  while (*link != index) link = &entries_[*link].next;
  *link = entry.next;
  if (entry.which == kNone) of_groups_.erase(index);
  entry = {};
  entry.next = std::exchange(free_, index);
  --used_;
}

void WatchedKeys::clear() { *this = {}; }

std::vector<WatchedKeys::Index> WatchedKeys::find(std::string_view key) const {
  std::vector<Index> found;
  if (buckets_.empty()) return found;
  const std::uint32_t hash = hash_of(key);
  for (Index index = buckets_[hash & (buckets_.size() - 1)]; index != kEnd; index = entries_[index].next) {
    if (entries_[index].hash == hash) found.push_back(index);
  }
  return found;
}

std::vector<WatchedKeys::Index> WatchedKeys::all() const {
  redis::cluster::SlotSet any;
  any.set();
  return in(any);
}

std::vector<WatchedKeys::Index> WatchedKeys::in(const redis::cluster::SlotSet& slots) const {
  std::vector<Index> found;
  for (Index index = 0; const Entry& entry : entries_) {
    if (entry.used && slots[entry.slot]) found.push_back(index);
    ++index;
  }
  return found;
}

std::string WatchedKeys::key(Index index, const Tenancy& hold) const {
  const Which which = entries_[index].which;
  return which == kNone ? of_groups_.at(index).key : hold.target()->watched_key(which);
}

Spare WatchedKeys::spare(Index index) const {
  const auto found = of_groups_.find(index);
  return found == of_groups_.end() ? nullptr : found->second.spare;
}

using base::Clock;

namespace {

/// So many looks are always kept.
constexpr std::size_t kFewLooks = 1000;
/// The shortest time between two sweeps, each of which goes through all of them.
constexpr Duration kShortestCalm = std::chrono::seconds(1);

/// It was not refused because of what was renewed, so it will be refused again.
bool refuses_the_way(const base::Reply& reply) { return reply.is_error() && redis::refuses_command(reply.text); }

}  // namespace

KeyWatch::KeyWatch(Runtime& runtime, redis::Shard& shard)
    : runtime_(runtime),
      shard_(shard),
      alarm_(runtime.loop().schedule(), [this] { ask(); }),
      main_connected_(shard.sockets().front() >= 0) {}

// ---- what is watched ----

void KeyWatch::add(Entry entry) {
  if (state_ == State::refused) return;
  lane();  // from here on there is one
  const std::uint16_t slot = runtime_.router().slot_of(entry.key);
  const WatchedKeys::Index added =
      keys_.add(std::move(entry.key), slot, entry.hold, entry.which, std::move(entry.spare));
  runtime_.reporter().add(&Counters::watched);
  if (state_ == State::on) on_changed(added, Clock::now());
}

void KeyWatch::take(std::vector<Entry>& into, const redis::cluster::SlotSet& slots) {
  for (const WatchedKeys::Index key : keys_.in(slots)) {
    if (std::shared_ptr<Tenancy> hold = keys_.hold(key)) {
      std::string text = keys_.key(key, *hold);
      into.push_back({std::move(text), std::move(hold), keys_.which(key), keys_.spare(key)});
    }
    if (state_ == State::on) {
      keys_.leave(key);
      on_changed(key, Clock::now());  // the next look strikes it off
    } else {
      strike_off(key);
    }
  }
}

void KeyWatch::strike_off(WatchedKeys::Index key) {
  keys_.erase(key);
  looks_.erase(key);
}

/// Null: it has ended, and its key is struck off.
std::shared_ptr<Tenancy> KeyWatch::hold_of(WatchedKeys::Index key) {
  std::shared_ptr<Tenancy> hold = keys_.hold(key);
  if (hold && !hold->ended()) return hold;
  strike_off(key);
  return nullptr;
}

void KeyWatch::stop() {
  alarm_.cancel();
  due_.clear();
  keys_.clear();
  looks_.clear();
  attended_.reset();
}

// ---- the connection, and what it reports ----

void KeyWatch::on_connected() {
  connected_ = true;
  as_main_ = main_connected_ && shard_.is_beside_main(redis::Side::watch);
  auto request = redis::Request::of({{"CLIENT", "TRACKING", "ON"}}, runtime_.config().timing.command_timeout);
  wire::add_untold_trial(request.commands);
  lane().send(std::move(request),
              [this, keep = runtime_.keep_alive()](const redis::Result& result) { on_tracked(result); });
}

/// Over RESP2 a server accepts the command, and reports nothing on this connection.
void KeyWatch::on_tracked(const redis::Result& result) {
  if (runtime_.over() || result.delivery != redis::Delivery::answered) return;  // the next connection asks again
  if (result.replies.front().is_error() || lane().speaks_resp2()) {
    state_ = State::refused;
    keys_.clear();
    looks_.clear();
    runtime_.reporter().add(&Counters::watch_refusals);
    return;
  }
  state_ = State::on;
  const base::Reply* const untold = wire::untold_reply(std::span(result.replies).last(wire::kUntoldTrial));
  may_be_untold_ = untold != nullptr && !untold->is_error();
  const TimePoint now = Clock::now();
  looks_.clear();
  for (const WatchedKeys::Index key : keys_.all()) on_changed(key, now);
}

/// A look that waits at the gate meanwhile is of no use: on the next connection all keys are read.
void KeyWatch::on_disconnected() {
  state_ = State::off;
  connected_ = as_main_ = may_be_untold_ = false;
  ++connection_;
  under_way_ = false;
  due_.clear();
  rest();
}

/// The earlier connection may lead to another server by now.
void KeyWatch::on_main(bool connected) {
  main_connected_ = connected;
  as_main_ = false;
  if (connected && connected_) lane().recover();
}

void KeyWatch::on_invalidated(const base::Reply& keys) {
  if (state_ != State::on) return;
  const TimePoint now = Clock::now();
  std::uint64_t notices = 0;
  const auto changed = [&](const std::vector<WatchedKeys::Index>& each) {
    for (const WatchedKeys::Index key : each) on_changed(key, now);
    notices += each.size();
  };
  if (keys.is_null()) changed(keys_.all());
  for (const base::Reply& key : keys.elements) changed(keys_.find(key.text));
  runtime_.reporter().add(&Counters::notices, notices);
}

/// Strikes it off, later, if its hold has ended.
void KeyWatch::on_changed(WatchedKeys::Index key, TimePoint now) {
  forget_old_looks(now);
  const std::shared_ptr<Tenancy> hold = keys_.hold(key);
  const std::optional<TimePoint> when = looks_[key].on_changed(now, hold ? hold->lease() : milliseconds());
  if (!when) return;
  due_.emplace(*when, key);
  if (!attended_) attended_.emplace(runtime_.loop());
  ask_soon();
}

/// With time there would be one for each key.
void KeyWatch::forget_old_looks(TimePoint now) {
  if (looks_.size() < sweep_at_) return;
  std::erase_if(looks_, [&](const auto& look) { return look.second.is_over(now); });
  sweep_at_ = std::max(kFewLooks, 2 * looks_.size());
}

// ---- looks ----

/// After the handler that is running, so that all that it brings travels together.
void KeyWatch::ask_soon() {
  if (!under_way_) alarm_.set(TimePoint{});
}

/// If there is no memory, the keys that were taken are read on the next connection only.
void KeyWatch::ask() noexcept {
  try {
    try_to_ask();
  } catch (...) {
    under_way_ = false;
    rest();
    if (!due_.empty()) alarm_.set_after(kBetweenBatches);
  }
}

void KeyWatch::try_to_ask() {
  if (runtime_.over() || under_way_ || state_ != State::on) return;
  const TimePoint now = Clock::now();
  std::vector<Asked> asked;
  std::vector<base::Command> commands;
  if (now >= next_batch_) commands = take_due(asked, now);
  if (asked.empty()) {
    rest();
    if (due_.empty()) {
      calm_down(now);
    } else {
      alarm_.set(std::max(due_.begin()->first, next_batch_));
    }
    return;
  }
  if (asked.size() == kMostAtOnce) next_batch_ = now + kBetweenBatches;
  under_way_ = true;
  lane().send({std::move(commands), runtime_.config().timing.command_timeout, {}},
              [this, keep = runtime_.keep_alive(), asked = std::move(asked),
               connection = connection_](const redis::Result& result) {
                if (connection != connection_) return;
                under_way_ = false;
                on_reply(asked, result);
              });
}

std::vector<base::Command> KeyWatch::take_due(std::vector<Asked>& asked, TimePoint now) {
  std::vector<base::Command> commands;
  const std::size_t most = std::min(due_.size(), kMostAtOnce);
  commands.reserve(most);
  asked.reserve(most);
  while (!due_.empty() && due_.begin()->first <= now && asked.size() < most) {
    const WatchedKeys::Index key = due_.begin()->second;
    due_.erase(due_.begin());
    const std::shared_ptr<Tenancy> hold = hold_of(key);
    if (!hold) continue;
    wire::Owner owner = hold->owner();
    commands.push_back(hold->target()->plan().questions.ask_owner(keys_.key(key, *hold), owner));
    asked.push_back({key, std::move(owner)});
    looks_[key].on_asked(now);
  }
  return commands;
}

void KeyWatch::on_reply(const std::vector<Asked>& asked, const redis::Result& result) {
  if (runtime_.over()) return;
  const TimePoint now = Clock::now();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::shared_ptr<Tenancy> hold = hold_of(asked[i].key);
    if (!hold) continue;
    on_said(asked[i], read(result, i, hold->target()->plan(), asked[i].owner), now);
  }
  rest();
  if (due_.empty()) {
    calm_down(now);
  } else {
    ask_soon();
  }
}

/// Many looks at a time are rare: afterwards neither they nor the memory for them are kept. If too many of them are too
/// recent to be forgotten, it tries again later.
void KeyWatch::calm_down(TimePoint now) {
  if (looks_.size() < kFewLooks) return;
  if (now >= calm_at_ + kShortestCalm) {
    calm_at_ = now;
    sweep_at_ = 0;
    forget_old_looks(now);
    looks_.rehash(0);
  }
  if (looks_.size() >= kFewLooks) alarm_.set(calm_at_ + kShortestCalm);
}

void KeyWatch::rest() {
  if (due_.empty() && !under_way_ && renewing_ == 0) attended_.reset();
}

// ---- renewals ----

void KeyWatch::renew(std::vector<Renewal>&& renewals, Duration timeout, redis::ResultHandler handler) {
  redis::Request request{.commands = {}, .timeout = timeout, .operation = redis::Operation::renew};
  request.commands.reserve(renewals.size() * wire::kUntoldCommands);
  for (Renewal& each : renewals) wire::add_untold(request.commands, std::move(each.command), std::move(each.keys));
  redis::ResultHandler taken_out = [this, keep = runtime_.keep_alive(),
                                    handler = std::move(handler)](redis::Result result) {
    --renewing_;
    rest();
    try {
      take_out(result);
    } catch (...) {
      result.delivery = redis::Delivery::unknown;  // out of memory
    }
    handler(std::move(result));
  };
  if (!attended_) attended_.emplace(runtime_.loop());
  ++renewing_;
  lane().send(std::move(request), std::move(taken_out));
}

/// The replies to renewals, out of those to their transactions.
void KeyWatch::take_out(redis::Result& result) {
  if (result.delivery != redis::Delivery::answered) return;
  std::vector<base::Reply> replies;
  for (std::span<const base::Reply> rest = result.replies; !rest.empty(); rest = rest.subspan(wire::kUntoldCommands)) {
    const std::span<const base::Reply> its = rest.first(wire::kUntoldCommands);
    const base::Reply* const reply = wire::untold_reply(its);
    replies.push_back(reply != nullptr ? *reply : its.back());
    if (reply == nullptr && std::ranges::any_of(its, refuses_the_way)) may_be_untold_ = false;
  }
  result.replies = std::move(replies);
}

KeyWatch::Said KeyWatch::read(const redis::Result& result, std::size_t i, const Plan& plan, const wire::Owner& owner) {
  if (result.delivery != redis::Delivery::answered) return Said::nothing;
  const base::Reply& reply = result.replies[i];
  if (!reply.is_error()) {
    const std::optional<bool> is_owner = plan.questions.is_owner(reply, owner);
    if (!is_owner) return Said::nothing;
    return *is_owner ? Said::ours : Said::not_ours;
  }
  const redis::Meaning meaning = redis::classify(reply.text);
  if (meaning.code == Errc::wrong_type) return Said::not_ours;
  return meaning.fate == redis::Fate::transient ? Said::nothing : Said::refused;
}

void KeyWatch::on_said(const Asked& asked, Said said, TimePoint now) {
  const WatchedKeys::Index key = asked.key;
  if (said == Said::refused) return strike_off(key);
  Look& look = looks_[key];
  if (said == Said::ours) return look.on_ours();
  const std::shared_ptr<Tenancy> hold = keys_.hold(key);
  due_.emplace(look.on_open(now, hold->lease()), key);
  if (said == Said::not_ours) on_doubt({keys_.key(key, *hold), hold, keys_.spare(key)});
}

// ---- doubts ----

void KeyWatch::on_doubt(const Doubt& doubt) {
  if (doubt.hold->on_doubt(Clock::now())) return renew_now(doubt.hold);
  ask_main(doubt);
}

/// On the loop of the hold's own client.
void KeyWatch::renew_now(const std::shared_ptr<Tenancy>& hold) {
  hold->runtime()->hand_over([weak = std::weak_ptr(hold)] {
    if (const std::shared_ptr<Tenancy> still = weak.lock()) still->target()->look_now(still);
  });
}

void KeyWatch::ask_main(const Doubt& doubt) {
  wire::Owner owner = doubt.hold->owner();
  auto request = redis::Request::of(doubt.hold->target()->plan().questions.ask_owner(doubt.key, owner),
                                    runtime_.config().timing.command_timeout);
  runtime_.send(std::move(request),
                [this, keep = runtime_.keep_alive(), key = doubt.key, weak = std::weak_ptr(doubt.hold),
                 spare = doubt.spare, owner = std::move(owner)](const redis::Result& result) {
                  const std::shared_ptr<Tenancy> hold = weak.lock();
                  if (runtime_.over() || !hold) return;
                  if (read(result, 0, hold->target()->plan(), owner) != Said::not_ours) return;
                  if (owner.ask != hold->ask() || hold->is_being_shared()) return;
                  if (!remove(key, *hold) || (spare && spare->fetch_sub(1) > 0)) return;
                  on_gone(*hold, Clock::now(), Clock::now());
                });
}

bool KeyWatch::remove(const std::string& key, const Tenancy& hold) {
  const std::vector<WatchedKeys::Index> same = keys_.find(key);
  const auto found = std::ranges::find_if(same, [&](auto each) { return keys_.hold(each).get() == &hold; });
  if (found == same.end()) return false;
  keys_.leave(*found);  // the next look strikes it off
  return true;
}

// ---- those of all servers ----

void LossWatch::watch(KeyWatch::Entry entry) {
  if (runtime_.over() || !runtime_.config().loss_notice) return;
  of(runtime_.router().shard_of(entry.key)).add(std::move(entry));
}

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
  for (auto& [shard, keys] : by_shard_) keys.stop();
}

}  // namespace holdfast::engine
