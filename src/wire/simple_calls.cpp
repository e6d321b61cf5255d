#include "wire/simple_calls.hpp"

#include "wire/names.hpp"
#include "wire/scripts.hpp"

namespace holdfast::wire::simple {

LockNames names(std::string raw_name) {
  std::string channel = simple_lock_channel(raw_name);
  return {std::move(raw_name), std::move(channel)};
}

base::Command acquire(const LockNames& names, const Owner& owner, std::chrono::milliseconds lease) {
  return base::Command::call(scripts::simple_acquire, "1", names.key, std::to_string(lease.count()), owner.text);
}

base::Command acquire_all(std::span<const LockNames> names, const Owner& owner, std::chrono::milliseconds lease) {
  return acquire_all_with(scripts::simple_acquire_all, names, owner, lease);
}

base::Command release(const LockNames& names, const Owner& owner) {
  return base::Command::call(scripts::simple_release, "1", names.key, owner.text, names.channel);
}

base::Command release_all(std::span<const LockNames> names, const Owner& owner) {
  return release_all_with(scripts::simple_release_all, names, owner);
}

base::Command force_release(const LockNames& names) {
  return {{"1", names.key, names.channel}, &scripts::simple_force_release};
}

base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
  return renew_with(scripts::simple_renew, renewals, lease);
}

base::Command length(std::string_view key) { return {{"STRLEN", std::string(key)}}; }

base::Command holder(std::string_view key) { return {{"GET", std::string(key)}}; }

Held decode_holder(const base::Reply& reply) {
  if (reply.is_null() || reply.is_error()) return {};
  return {reply.text, 1};
}

}  // namespace holdfast::wire::simple
