// How releases of a key target are told, and what is known of those who heard.
#include <algorithm>

#include "engine/hold/key_target.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

Publish KeyTarget::publish() const {
  redis::Router& router = runtime().router();
  const Publish how = router.publish();
  if (how == Publish::publish) return how;
  const std::vector<wire::LockNames> all = all_names();
  const std::uint16_t slot = router.slot_of(all.front().key);
  const auto beside = [&](const wire::LockNames& each) { return router.slot_of(each.channel) == slot; };
  return std::ranges::all_of(all, beside) ? how : Publish::publish;
}

std::vector<std::string> KeyTarget::sharded_channels() const {
  return publish() == Publish::publish ? std::vector<std::string>() : common_channels();
}

std::int64_t KeyTarget::others(std::int64_t reached, bool asked) const {
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

Audience KeyTarget::audience(std::int64_t reached, bool asked) const {
  const redis::Subscriptions& here = subscriptions();
  if (asked || plan_.traits.announced != Traits::Announced::all || !here.counts_all(publish())) return {};
  std::vector<std::string> channels = common_channels();
  if (channels.size() != 1) return {};
  if (here.subscribed(channels.front(), publish())) --reached;
  return {std::move(channels.front()), std::max<std::int64_t>(reached, 0)};
}

std::vector<KeyTarget::Heard> KeyTarget::heard_so_far() const {
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
void KeyTarget::expect_own(std::int64_t reached, const std::vector<Heard>& before) const {
  if (reached < static_cast<std::int64_t>(before.size())) return;
  redis::Subscriptions& here = subscriptions();
  for (const auto& [channel, messages] : before) {
    if (runtime().listeners()->messages(channel) == messages) here.expect_own(channel);
  }
}

}  // namespace holdfast::engine
