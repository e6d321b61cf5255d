#include "wire/lock_calls.hpp"

#include <charconv>

#include "wire/scripts.hpp"

namespace holdfast::wire::lock {
namespace {

constexpr LockScripts kScripts{scripts::lock_acquire, scripts::lock_acquire_all, scripts::lock_release,
                               scripts::lock_release_all, scripts::lock_force_release};

}  // namespace

LockNames names(std::string raw_name) {
  std::string channel = prefixed("redisson_lock__channel", raw_name);
  return {std::move(raw_name), std::move(channel)};
}

base::Command acquire(const AcquireCall& call) { return wire::acquire(kScripts, call); }
base::Command release(const ReleaseCall& call) { return wire::release(kScripts, call); }
base::Command force_release(const LockNames& names, Publish publish) {
  return wire::force_release(kScripts, names, publish);
}
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
  return wire::renew(scripts::lock_renew, renewals, lease);
}

base::Command count_fields(std::string_view key) { return {{"HLEN", std::string(key)}}; }
base::Command has_owner(std::string_view key, std::string_view owner) {
  return {{"HEXISTS", std::string(key), std::string(owner)}};
}
base::Command holder(std::string_view key) { return {{"HGETALL", std::string(key)}}; }

Held decode_holder(const base::Reply& reply) {
  Held held;
  if (!reply.is_array() || reply.elements.size() < 2) return held;
  held.owner = reply.elements[0].text;
  const std::string& count = reply.elements[1].text;
  std::from_chars(count.data(), count.data() + count.size(), held.count);
  return held;
}

}  // namespace holdfast::wire::lock
