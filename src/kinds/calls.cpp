// SPDX-License-Identifier: Apache-2.0
#include "kinds/calls.hpp"

#include <utility>

#include "base/text.hpp"

namespace holdfast::wire {

std::string prefixed(std::string_view prefix, std::string_view name) {
  std::string out;
  out.reserve(prefix.size() + name.size() + 3);
  out.append(prefix);
  if (name.find('{') != std::string_view::npos) return out.append(":").append(name);
  return out.append(":{").append(name).append("}");
}

std::string suffixed(std::string_view name, std::string_view suffix) {
  std::string out;
  out.reserve(name.size() + suffix.size() + 3);
  if (name.find('{') != std::string_view::npos) {
    out.append(name);
  } else {
    out.append("{").append(name).append("}");
  }
  return out.append(":").append(suffix);
}

std::string once_key(std::string_view name, std::string_view operation) {
  constexpr std::string_view kWord = ":holdfast_once:";
  const bool whole = name.find('}') == std::string_view::npos;  // the slot of such a name is that of the whole name
  std::string out;
  out.reserve(name.size() + kWord.size() + operation.size() + 2);
  if (whole) out.append("{");
  out.append(name);
  if (whole) out.append("}");
  return out.append(kWord).append(operation);
}

namespace {

/// The number of keys and the keys; reserves room for this many arguments after them.
base::Command with_keys(const base::Script& script, Names names, std::size_t arguments) {
  base::Command command{{}, &script};
  command.args.reserve(1 + names.size() + arguments);
  command.args.push_back(std::to_string(names.size()));
  for (const LockNames& name : names) command.args.push_back(name.key);
  return command;
}

/// No server has more clients. Valkey 9.1 sometimes reports trillions while its table of a channel's listeners grows.
constexpr std::int64_t kMostListeners = 1'000'000;

}  // namespace

std::int64_t believable(std::int64_t listeners) { return listeners <= kMostListeners ? listeners : -1; }

std::string acquired_key(const Owner& owner) { return owner.text + ":acquire"; }
std::string released_key(const Owner& owner) { return owner.text + ":release"; }

bool sharded(Publish publish) { return publish == Publish::spublish || publish == Publish::both; }

const char* way(Publish publish) {
  if (publish == Publish::publish) return "publish";
  return publish == Publish::spublish ? "spublish" : "both";
}

void add_way(base::Command& command, Publish publish) {
  if (publish != Publish::publish) command.args.emplace_back(way(publish));
}

base::Command acquire(const base::Script& script, const AcquireCall& call) {
  base::Command command = with_keys(script, call.names, 4);
  command.args.push_back(std::to_string(call.lease.count()));
  command.args.push_back(call.owner.text);
  if (call.count_listeners) {
    command.args.push_back(call.names.front().channel);
    if (sharded(call.publish)) command.args.emplace_back("SHARDNUMSUB");
  }
  return command;
}

base::Command acquire(const LockScripts& scripts, const AcquireCall& call) {
  if (call.names.size() == 1) return acquire(scripts.acquire, call);
  AcquireCall all = call;
  all.count_listeners = false;
  return acquire(scripts.acquire_all, all);
}

base::Command release(const base::Script& script, const ReleaseCall& call) {
  base::Command command = with_keys(script, call.names, 2 + call.names.size());
  command.args.push_back(call.owner.text);
  for (const LockNames& name : call.names) command.args.push_back(name.channel);
  add_way(command, call.publish);
  return command;
}

base::Command release(const LockScripts& scripts, const ReleaseCall& call) {
  return release(call.names.size() == 1 ? scripts.release : scripts.release_all, call);
}

base::Command force_release(const LockScripts& scripts, const LockNames& names, const std::optional<Owner>& owner,
                            Publish publish) {
  base::Command command = base::Command::call(scripts.force_release, "1", names.key, names.channel, way(publish));
  if (owner) command.args.push_back(owner->text);
  return command;
}

base::Command with_once(const base::Script& script, std::string_view key, const std::optional<Once>& once,
                        std::string_view undoes, std::size_t arguments) {
  base::Command command{{}, &script};
  command.args.reserve(4 + arguments);
  command.args.emplace_back("1");
  command.args.emplace_back(key);
  if (once) command.args.push_back(once_key(key, once->key));
  if (once && !undoes.empty()) command.args.push_back(once_key(key, undoes));
  command.args.front() = std::to_string(command.args.size() - 1);
  return command;
}

std::string remembered(const std::optional<Once>& once) { return std::to_string(once ? once->remembered.count() : 0); }

base::Command with_first_key(const base::Command& command) {
  base::Command alone = base::Command::call(*command.script, "1", command.args.at(1));
  const auto keys = base::to_number<std::ptrdiff_t>(command.args.front()).value_or(1);
  alone.args.insert(alone.args.end(), command.args.begin() + 1 + keys, command.args.end());
  return alone;
}

AcquireReply decode_acquire(const base::Reply& reply) {
  if (reply.is_null()) return {true, std::nullopt};
  if (reply.is_integer()) return {false, std::chrono::milliseconds(reply.integer)};
  const std::size_t size = reply.is_array() ? reply.elements.size() : 0;
  if (size >= 2 && size <= 4 && reply.elements[0].integer > 0) {
    AcquireReply busy{false, std::chrono::milliseconds(reply.elements[1].integer),
                      static_cast<std::size_t>(reply.elements[0].integer - 1)};
    if (size > 2) busy.listeners = believable(reply.elements[2].integer);
    if (size > 3) busy.holder = reply.elements[3].text;
    return busy;
  }
  return {};
}

std::optional<std::int64_t> decode_release(const base::Reply& reply) {
  if (!reply.is_integer() || reply.integer < 0) return std::nullopt;
  return reply.integer;
}

// ---- renewals ----

base::Command renew(const base::Script& script, const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
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

namespace {

void begin_untold(std::vector<base::Command>& to) {
  to.push_back({{"MULTI"}});
  to.push_back({{"CLIENT", "TRACKING", "OFF"}});
}

}  // namespace

void add_untold(std::vector<base::Command>& to, base::Command renewal, std::vector<std::string> keys) {
  begin_untold(to);
  to.push_back(std::move(renewal));
  to.push_back({{"CLIENT", "TRACKING", "ON"}});
  keys.insert(keys.begin(), "EXISTS");
  to.push_back({std::move(keys)});
  to.push_back({{"EXEC"}});
}

void add_untold_trial(std::vector<base::Command>& to) {
  begin_untold(to);
  to.push_back({{"CLIENT", "TRACKING", "ON"}});
  to.push_back({{"EXEC"}});
}

const base::Reply* untold_reply(std::span<const base::Reply> replies) {
  const base::Reply& all = replies.back();
  if (!all.is_array() || all.elements.size() + 2 != replies.size()) return nullptr;
  return &all.elements[1];
}

}  // namespace holdfast::wire
