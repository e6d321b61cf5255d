#include "wire/lock_calls.hpp"

#include <charconv>

#include "wire/names.hpp"
#include "wire/scripts.hpp"

namespace holdfast::wire {

LockNames::LockNames(std::string raw_name) : key(std::move(raw_name)), channel(lock_channel(key)) {}
LockNames::LockNames(std::string raw_name, std::string its_channel)
    : key(std::move(raw_name)), channel(std::move(its_channel)) {}

base::Command acquire(const LockNames& names, const Owner& owner, std::chrono::milliseconds lease, bool count) {
  base::Command command =
      base::Command::call(scripts::lock_acquire, "1", names.key, std::to_string(lease.count()), owner.text);
  if (count) command.args.push_back(names.channel);
  return command;
}

base::Command acquire_all(std::span<const LockNames> names, const Owner& owner, std::chrono::milliseconds lease) {
  return acquire_all_with(scripts::lock_acquire_all, names, owner, lease);
}

base::Command acquire_all_with(const base::Script& script, std::span<const LockNames> names, const Owner& owner,
                               std::chrono::milliseconds lease) {
  base::Command command{{std::to_string(names.size())}, &script};
  for (const LockNames& name : names) command.args.push_back(name.key);
  command.args.push_back(std::to_string(lease.count()));
  command.args.push_back(owner.text);
  return command;
}

AcquireReply decode_acquire(const base::Reply& reply) {
  if (reply.is_null()) return {true, std::nullopt};
  if (reply.is_integer()) return {false, std::chrono::milliseconds(reply.integer)};
  const std::size_t size = reply.is_array() ? reply.elements.size() : 0;
  if (size >= 2 && size <= 4 && reply.elements[0].integer > 0) {
    AcquireReply busy{false, std::chrono::milliseconds(reply.elements[1].integer),
                      static_cast<std::size_t>(reply.elements[0].integer - 1)};
    if (size > 2) busy.listeners = reply.elements[2].integer;
    if (size > 3) busy.holder = reply.elements[3].text;
    return busy;
  }
  return {};
}

base::Command release(const LockNames& names, const Owner& owner) {
  return base::Command::call(scripts::lock_release, "1", names.key, owner.text, names.channel);
}

base::Command release_all(std::span<const LockNames> names, const Owner& owner) {
  return release_all_with(scripts::lock_release_all, names, owner);
}

base::Command release_all_with(const base::Script& script, std::span<const LockNames> names, const Owner& owner) {
  base::Command command{{std::to_string(names.size())}, &script};
  for (const LockNames& name : names) command.args.push_back(name.key);
  command.args.push_back(owner.text);
  for (const LockNames& name : names) command.args.push_back(name.channel);
  return command;
}

std::optional<std::int64_t> decode_release(const base::Reply& reply) {
  if (!reply.is_integer() || reply.integer < 0) return std::nullopt;
  return reply.integer;
}

base::Command server_info() { return {{"INFO", "server"}}; }

std::string decode_run_id(const base::Reply& reply) {
  constexpr std::string_view kLine = "\nrun_id:";
  const std::size_t found = reply.is_text() ? reply.text.find(kLine) : std::string::npos;
  if (found == std::string::npos) return {};
  const std::size_t begin = found + kLine.size();
  return reply.text.substr(begin, reply.text.find('\r', begin) - begin);
}

base::Command force_release(const LockNames& names) {
  return {{"1", names.key, names.channel}, &scripts::lock_force_release};
}

base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
  return renew_with(scripts::lock_renew, renewals, lease);
}

base::Command renew_with(const base::Script& script, const std::vector<Renewal>& renewals,
                         std::chrono::milliseconds lease) {
  base::Command command{{}, &script};
  command.args.reserve(2 + 2 * renewals.size());
  command.args.push_back(std::to_string(renewals.size()));
  for (const Renewal& renewal : renewals) command.args.push_back(renewal.key);
  command.args.push_back(std::to_string(lease.count()));
  for (const Renewal& renewal : renewals) command.args.push_back(renewal.owner);
  return command;
}

std::vector<bool> decode_renew(const base::Reply& reply, std::size_t asked) {
  if (!reply.is_array()) return {};
  std::vector<bool> extended(asked, true);
  for (const base::Reply& lost : reply.elements) {
    if (!lost.is_integer() || lost.integer < 1 || static_cast<std::size_t>(lost.integer) > asked) return {};
    extended[static_cast<std::size_t>(lost.integer) - 1] = false;
  }
  return extended;
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

base::Command remaining(std::string_view key) { return {{"PTTL", std::string(key)}}; }
std::optional<std::chrono::milliseconds> time_left(const base::Reply& pttl) {
  if (!pttl.is_integer() || pttl.integer < 0) return std::nullopt;
  return std::chrono::milliseconds(pttl.integer);
}
base::Command count_fields(std::string_view key) { return {{"HLEN", std::string(key)}}; }
base::Command has_owner(std::string_view key, std::string_view owner) {
  return {{"HEXISTS", std::string(key), std::string(owner)}};
}
base::Command scan(std::string_view cursor, std::string_view pattern, std::size_t count) {
  return {{"SCAN", std::string(cursor), "MATCH", std::string(pattern), "COUNT", std::to_string(count), "TYPE", "hash"}};
}

}  // namespace holdfast::wire
