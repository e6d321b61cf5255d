// SPDX-License-Identifier: Apache-2.0
#include "kinds/leased_semaphore.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "kinds/kinds.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::permits {
namespace {

constexpr std::size_t kIdSize = 16;
constexpr std::size_t kDigits = 2 * kIdSize;  // as shown
constexpr std::size_t kHalf = kDigits / 2;

/// Empty: there are characters that are no hexadecimal digits.
std::optional<std::uint64_t> from_hex(std::string_view digits) { return base::to_number<std::uint64_t>(digits, 16); }

/// The more significant byte first.
void append(std::string& to, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) to.push_back(static_cast<char>((value >> shift) & 0xff));
}

std::string id(std::uint64_t first, std::uint64_t second) {
  std::string out;
  out.reserve(kIdSize);
  append(out, first);
  append(out, second);
  return out;
}

/// Empty: not the text of an id.
std::string id_of(std::string_view shown) {
  if (shown.size() != kDigits) return {};
  const std::optional<std::uint64_t> first = from_hex(shown.substr(0, kHalf));
  const std::optional<std::uint64_t> second = from_hex(shown.substr(kHalf));
  return first && second ? id(*first, *second) : std::string();
}

bool each_once(std::vector<std::string> ids) {
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) == ids.end();
}

std::vector<std::string> derived(std::string_view text, std::uint32_t permits) {
  std::string digits;
  for (const char c : client_of(text)) {
    if (c != '-') digits.push_back(c);
  }
  const std::string_view number_text = text.substr(client_of(text).size() + 1);
  const std::int64_t number = base::to_number<std::int64_t>(number_text).value_or(0);
  const std::optional<std::uint64_t> first = from_hex(std::string_view(digits).substr(0, kHalf));
  const std::optional<std::uint64_t> second = from_hex(std::string_view(digits).substr(kHalf));
  if (!first || !second) return {};
  std::vector<std::string> ids;
  // A client's owner numbers are unique and below 2^48, so the sum of the two parts is different for each.
  for (std::uint32_t i = 0; i < permits; ++i) {
    ids.push_back(id(*first, *second + (static_cast<std::uint64_t>(number) << 16) + i));
  }
  return ids;
}

/// The script with both keys; reserves room for this many arguments after them.
base::Command with_keys(const base::Script& script, const std::string& key, std::size_t arguments) {
  base::Command command{{}, &script};
  command.args.reserve(3 + arguments);
  command.args.assign({"2", key, expiries(key)});
  return command;
}

void append_ids(base::Command& command, const Owner& owner) {
  std::vector<std::string> ids = ids_of(owner);
  command.args.insert(command.args.end(), std::make_move_iterator(ids.begin()), std::make_move_iterator(ids.end()));
}

/// And with the key under which the server remembers it, if there is one.
base::Command with_keys(const base::Script& script, const std::string& key, const std::optional<Once>& once,
                        std::size_t arguments) {
  base::Command command = with_keys(script, key, 1 + arguments);
  if (once) command.args.push_back(once_key(key, once->key));
  command.args.front() = std::to_string(command.args.size() - 1);
  return command;
}

base::Command change(const base::Script& script, const ChangeCall& call,
                     std::optional<std::chrono::milliseconds> lives = {}) {
  base::Command command = with_keys(script, call.names.key, call.once, 5);
  command.args.push_back(std::to_string(call.permits));
  command.args.push_back(remembered(call.once));
  command.args.push_back(call.names.channel);
  command.args.emplace_back(way(call.publish));
  if (lives) command.args.push_back(std::to_string(lives->count()));
  return command;
}

}  // namespace

LockNames names(std::string raw_name) { return semaphore::names(std::move(raw_name)); }
std::string expiries(std::string_view key) { return suffixed(key, kExpiriesEnd.substr(1)); }

std::vector<std::string> keys_of(std::string_view expiries) {
  if (!expiries.ends_with(kExpiriesEnd)) return {};
  const std::string_view key = expiries.substr(0, expiries.size() - kExpiriesEnd.size());
  std::vector<std::string> keys;
  if (key.find('{') != key.npos) keys.emplace_back(key);
  if (key.starts_with('{') && key.ends_with('}') && key.find('{', 1) == key.npos) {
    keys.emplace_back(key.substr(1, key.size() - 2));
  }
  return keys;
}

std::vector<std::string> ids_of(const Owner& owner) {
  std::string_view text = owner.text;
  if (looks_like_owner(text)) return derived(text, owner.ask.permits);
  std::vector<std::string> ids;
  while (true) {
    std::string next = id_of(text.substr(0, kDigits));
    if (next.empty()) return {};
    ids.push_back(std::move(next));
    text.remove_prefix(kDigits);
    if (text.empty()) return each_once(ids) ? ids : std::vector<std::string>();
    if (text.front() != ',' || ids.size() == kMostPermits) return {};
    text.remove_prefix(1);
  }
}

std::string shown(std::string_view id) {
  if (id.size() != kIdSize) return std::string(id);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(kDigits);
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 0xf]);
  }
  return out;
}

base::Command acquire(const AcquireCall& call) {
  const LockNames& names = call.names.front();
  base::Command command = with_keys(scripts::permits_acquire, names.key, 4 + call.owner.ask.permits);
  command.args.push_back(std::to_string(call.lease.count()));
  command.args.push_back(names.channel);
  command.args.emplace_back(way(call.publish));
  command.args.emplace_back(!call.count_listeners ? "" : sharded(call.publish) ? "SHARDNUMSUB" : "NUMSUB");
  append_ids(command, call.owner);
  return command;
}

AcquireReply decode_acquire(const base::Reply& reply) {
  if (reply.is_null()) return {};
  if (!reply.is_array() || reply.elements.empty() || reply.elements.front().integer != -1) {
    AcquireReply busy = semaphore::decode_acquire(reply);
    constexpr std::size_t kWithAll = 4;
    if (busy.busy_for && reply.elements.size() == kWithAll) busy.in_all = reply.elements.back().integer;
    return busy;
  }
  AcquireReply granted;
  for (std::size_t i = 1; i < reply.elements.size(); ++i) {
    const std::string& id = reply.elements[i].text;
    if (id.size() != kIdSize) return {};
    if (i > 1) granted.grant.owner.text.push_back(',');
    granted.grant.owner.text.append(shown(id));
  }
  granted.granted = !granted.grant.owner.text.empty();
  return granted;
}

base::Command release(const ReleaseCall& call) {
  const LockNames& names = call.names.front();
  base::Command command = with_keys(scripts::permits_release, names.key, 2 + call.owner.ask.permits);
  command.args.push_back(names.channel);
  command.args.emplace_back(way(call.publish));
  append_ids(command, call.owner);
  return command;
}

base::Command force_release(const LockNames& names, const std::optional<Owner>& owner, Publish publish) {
  base::Command command = with_keys(scripts::permits_force_release, names.key, 3);
  command.args.push_back(names.channel);
  command.args.emplace_back(way(publish));
  if (!owner) return command;
  append_ids(command, *owner);
  // Means nobody's permits, instead of everybody's.
  if (command.args.size() == 5) command.args.emplace_back();
  return command;
}

base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
  base::Command command{{}, &scripts::permits_renew};
  command.args.reserve(2 + 2 * renewals.size());
  command.args.push_back(std::to_string(renewals.size()));
  for (const Renewal& renewal : renewals) command.args.push_back(expiries(renewal.key));
  command.args.push_back(std::to_string(lease.count()));
  for (const Renewal& renewal : renewals) {
    std::string joined;
    for (const std::string& id : ids_of({renewal.owner})) joined.append(id);
    command.args.push_back(std::move(joined));
  }
  return command;
}

base::Command set(const ChangeCall& call, std::optional<std::chrono::milliseconds> lives) {
  return change(scripts::permits_set, call, lives);
}
base::Command set_total(const ChangeCall& call, std::optional<std::chrono::milliseconds> lives) {
  return change(scripts::permits_set_total, call, lives);
}
base::Command add(const ChangeCall& call) { return change(scripts::permits_add, call); }

base::Command remove(const LockNames& names, const std::optional<Once>& once, Publish publish) {
  base::Command command = with_keys(scripts::permits_remove, names.key, once, 3);
  command.args.push_back(remembered(once));
  command.args.push_back(names.channel);
  command.args.emplace_back(way(publish));
  return command;
}

base::Command has_owner(std::string_view expiries, const Owner& owner) {
  const std::vector<std::string> ids = ids_of(owner);
  return {{"ZSCORE", std::string(expiries), ids.empty() ? std::string() : ids.front()}};
}

base::Command count_held(std::string_view expiries) { return {{"ZCARD", std::string(expiries)}}; }

base::Command look(const LockNames& names, std::size_t most, Publish publish) {
  base::Command command = with_keys(scripts::permits_look, names.key, 3);
  command.args.push_back(names.channel);
  command.args.emplace_back(way(publish));
  command.args.push_back(std::to_string(most));
  return command;
}

std::optional<Seen> decode_look(const base::Reply& reply) {
  const std::size_t size = reply.is_array() ? reply.elements.size() : 0;
  if (size < 2 || size % 2 != 0 || !reply.elements[0].is_integer() || !reply.elements[1].is_integer()) return {};
  Seen seen{reply.elements[0].integer, reply.elements[1].integer};
  for (std::size_t i = 2; i < size; i += 2) {
    const base::Reply& left = reply.elements[i + 1];
    if (!left.is_integer()) return {};
    Permit permit{shown(reply.elements[i].text)};
    if (left.integer >= 0) permit.left = std::chrono::milliseconds(left.integer);
    seen.permits.push_back(std::move(permit));
  }
  return seen;
}

}  // namespace holdfast::wire::permits

namespace holdfast::kinds {
namespace {

namespace permits = wire::permits;

/// A query for the holders returns at most this many permits.
constexpr std::size_t kMostShown = 1000;

std::vector<wire::Held> holders_of(const base::Reply& reply) {
  std::vector<wire::Held> held;
  const std::optional<permits::Seen> seen = permits::decode_look(reply);
  if (!seen) return held;
  for (const permits::Permit& permit : seen->permits) {
    held.push_back({.owner = permit.id, .count = 1, .mode = wire::Mode::shared, .left = permit.left});
  }
  return held;
}

}  // namespace

// Repeatable, since a permit is identified by its id.
const engine::Plan kLeasedSemaphore{
    .traits = {.reentrant = false, .holders = engine::Traits::Holders::several},
    .transitions = {.names = permits::names,
                    .acquire = permits::acquire,
                    .decode_acquire = permits::decode_acquire,
                    .release = permits::release,
                    .renew = permits::renew,
                    .force_release = permits::force_release},
    .questions = {.owners_key = permits::expiries,
                  .ask_owner = permits::has_owner,
                  .is_owner =
                      [](const base::Reply& reply, const wire::Owner&) {
                        return reply.is_null() || reply.is_text() ? std::optional(reply.is_text()) : std::nullopt;
                      },
                  .holder =
                      [](std::string_view key) {
                        return permits::look(permits::names(std::string(key)), kMostShown, Publish::both);
                      },
                  .decode_holder =
                      [](const base::Reply& reply) {
                        std::vector<wire::Held> held = holders_of(reply);
                        return held.empty() ? wire::Held{} : std::move(held.front());
                      },
                  .decode_holders = holders_of,
                  .decode_available = [](const base::Reply& reply) -> std::optional<std::int64_t> {
                    const std::optional<permits::Seen> seen = permits::decode_look(reply);
                    return seen ? std::optional(seen->available) : std::nullopt;
                  }},
};

}  // namespace holdfast::kinds
