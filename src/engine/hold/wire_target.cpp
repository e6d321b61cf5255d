#include "engine/hold/wire_target.hpp"

#include <algorithm>

#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

WireTarget::WireTarget(std::string name, const std::vector<std::string>* several, const Plan& plan, std::uint16_t slot)
    : Target(std::move(name)),
      plan_(plan),
      several_(several != nullptr ? std::make_unique<const std::vector<std::string>>(*several) : nullptr),
      slot_(slot) {}

redis::Shard& WireTarget::shard() const { return runtime().router().shard_of_slot(slot_); }

redis::Subscriptions& WireTarget::subscriptions() const { return *shard().subscriptions(); }

bool WireTarget::stands_on(const redis::Shard& its_shard) const { return &shard() == &its_shard; }

bool WireTarget::lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const {
  return &client == &runtime() && slots[slot_];
}

bool WireTarget::has(const std::string& each) const {
  return several_ ? std::ranges::find(*several_, each) != several_->end() : name() == each;
}

wire::LockNames WireTarget::names(std::size_t which) const {
  return plan_.transitions.names(runtime().config().name_prefix + lock_name(which));
}

std::vector<wire::LockNames> WireTarget::all_names() const {
  std::vector<wire::LockNames> all;
  all.reserve(locks());
  for (std::size_t i = 0; i < locks(); ++i) all.push_back(names(i));
  return all;
}

std::vector<std::string> WireTarget::wake_channels(const wire::Owner& waiter) const {
  const auto own = plan_.transitions.wake_channel;
  std::vector<std::string> channels;
  for (wire::LockNames& each : all_names()) {
    channels.push_back(own == nullptr ? std::move(each.channel) : own(each, waiter));
  }
  return channels;
}

/// Those that all waiters have in common: none, if each has its own, or nobody is told.
std::vector<std::string> WireTarget::common_channels() const {
  if (plan_.transitions.wake_channel != nullptr || !announces()) return {};
  return wake_channels({});
}

Publish WireTarget::publish() const {
  redis::Router& router = runtime().router();
  const Publish how = router.publish();
  if (how == Publish::publish) return how;
  const std::vector<wire::LockNames> all = all_names();
  const std::uint16_t slot = router.slot_of(all.front().key);
  const auto beside = [&](const wire::LockNames& each) { return router.slot_of(each.channel) == slot; };
  return std::ranges::all_of(all, beside) ? how : Publish::publish;
}

std::vector<std::string> WireTarget::sharded_channels() const {
  return publish() == Publish::publish ? std::vector<std::string>() : common_channels();
}

std::int64_t WireTarget::others(std::int64_t reached, bool asked) const {
  if (!announces()) return 0;
  const redis::Subscriptions& here = subscriptions();
  const redis::Listeners& listeners = *runtime().listeners();
  if (asked || !here.counts_all(publish())) ++reached;  // somebody may listen at another node
  if (listeners.none()) return std::max<std::int64_t>(reached, 0);
  std::int64_t subscribed = 0;
  std::int64_t waiters = 0;
  for (const std::string& channel : common_channels()) {
    if (!asked && here.subscribed(channel, publish())) ++subscribed;
    waiters = std::max(waiters, static_cast<std::int64_t>(listeners.users(channel)));
  }
  return std::max<std::int64_t>(reached - subscribed, 0) + waiters;
}

Audience WireTarget::audience(std::int64_t reached, bool asked) const {
  const redis::Subscriptions& here = subscriptions();
  if (asked || plan_.traits.announced != Traits::Announced::all || !here.counts_all(publish())) return {};
  std::vector<std::string> channels = common_channels();
  if (channels.size() != 1) return {};
  if (here.subscribed(channels.front(), publish())) --reached;
  return {std::move(channels.front()), std::max<std::int64_t>(reached, 0)};
}

std::vector<WireTarget::Heard> WireTarget::heard_so_far() const {
  std::vector<Heard> heard;
  const redis::Listeners& listeners = *runtime().listeners();
  if (listeners.none()) return heard;
  for (std::string& channel : common_channels()) {
    const std::uint64_t messages = listeners.messages(channel);
    heard.push_back({std::move(channel), messages});
  }
  return heard;
}

/// Redis 7.0 sends what a script publishes to the client itself before the script's reply, Redis 8 behind it.
void WireTarget::expect_own(std::int64_t reached, const std::vector<Heard>& before) const {
  if (reached < static_cast<std::int64_t>(before.size())) return;
  redis::Subscriptions& here = subscriptions();
  for (const auto& [channel, messages] : before) {
    if (runtime().listeners()->messages(channel) == messages) here.expect_own(channel);
  }
}

base::Command WireTarget::return_command(Returned what, const wire::Owner& owner, milliseconds repeated) const {
  const std::vector<wire::LockNames> names = all_names();
  if (what == Returned::place) return plan_.transitions.leave({names, owner, runtime().config().fair_turn, publish()});
  wire::ReleaseCall call{.names = names, .owner = owner, .publish = publish()};
  if (plan_.transitions.leave != nullptr) call.turn = runtime().config().fair_turn;
  if (!plan_.traits.repeatable) {
    call.once = wire::Once{wire::released_key(owner), repeated};
    if (what == Returned::perhaps_hold) call.undoes = wire::acquired_key(owner);
  }
  return plan_.transitions.release(call);
}

}  // namespace holdfast::engine
