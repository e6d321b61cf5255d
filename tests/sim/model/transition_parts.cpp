// SPDX-License-Identifier: Apache-2.0
#include "sim/model/transition_parts.hpp"

#include <algorithm>

namespace holdfast::test {

bool of_another_type(std::string_view refused) { return refused.starts_with("WRONGTYPE"); }

std::int64_t tell(ScriptHost& host, std::string_view channel, std::string_view way, bool thorough,
                  std::string_view payload) {
  const Channel first = way == "spublish" ? Channel::sharded : Channel::plain;
  if (way != "both") return host.publish(first, channel, payload);
  const auto plain = attempt([&] { return host.publish(Channel::plain, channel, payload); });
  if (!plain.value && !thorough) throw Refused(plain.refused);
  const auto sharded = attempt([&] { return host.publish(Channel::sharded, channel, payload); });
  if (!plain.value) throw Refused(plain.refused);
  return std::max(*plain.value, sharded.value.value_or(0));
}

std::int64_t tell_whom_it_can(ScriptHost& host, std::string_view channel, std::string_view way,
                              std::string_view payload) {
  return attempt([&] { return tell(host, channel, way, true, payload); }).value.value_or(0);
}

std::string_view way_of(Args args, std::size_t position) { return position < args.size() ? args[position] : ""; }

std::int64_t count_listeners(ScriptHost& host, std::string_view channel, std::string_view command) {
  const Channel kind = command == "SHARDNUMSUB" ? Channel::sharded : Channel::plain;
  return attempt([&] { return host.listeners(kind, channel); }).value.value_or(-1);
}

void put_indices(std::string& reply, const std::vector<std::size_t>& indices) {
  put_head(reply, '*', indices.size());
  for (const std::size_t index : indices) put_number(reply, static_cast<std::int64_t>(index));
}

bool take_lock(ScriptHost& host, std::string_view key, Args args, std::size_t first) {
  if (host.keyspace().remaining(key) == -2) return false;
  const Found found = lock_at(host, key, std::nullopt);
  if (found.lock == nullptr) throw Refused(found.refused);
  const std::string owner = found.lock->first;
  if (args.size() > first && args[first] != owner) return false;
  return host.keyspace().erase_field(key, owner);
}

}  // namespace holdfast::test
