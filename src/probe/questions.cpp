// SPDX-License-Identifier: Apache-2.0
#include "probe/questions.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "base/resp.hpp"
#include "base/text.hpp"
#include "kinds/lock.hpp"
#include "probe/commands.hpp"
#include "probe/reading.hpp"

namespace holdfast::probing {
namespace {

using Commands = std::vector<base::Command>;
using Replies = std::vector<base::Reply>;

constexpr std::string_view kParameters[] = {"appendfsync",
                                            "save",
                                            "min-replicas-to-write",
                                            "min-replicas-max-lag",
                                            "replica-priority",
                                            "protected-mode",
                                            "bind",
                                            "timeout",
                                            "maxclients",
                                            "client-output-buffer-limit",
                                            "cluster-node-timeout",
                                            "cluster-require-full-coverage",
                                            "cluster-replica-no-failover"};

/// The named lock's key, or one that no lock uses: it is only read. If the user may use only some names, one of these.
std::string trial_key(const NodeFacts& facts, const Settings& settings) {
  if (!settings.lock.empty()) return settings.name_prefix + settings.lock;
  for (const std::string& pattern : facts.key_patterns.value_or(std::vector<std::string>())) {
    std::string name = name_like(pattern);
    if (name.starts_with(settings.name_prefix)) return name;
  }
  return settings.name_prefix + std::string(kTrialName);
}

std::vector<std::string> words_of(const NeededCommand& command, const NodeFacts& facts, const Settings& settings) {
  std::vector<std::string> words;
  std::istringstream stream(std::string(command.name) + " " + std::string(command.arguments));
  for (std::string word; stream >> word;) {
    if (word == "KEY") word = trial_key(facts, settings);
    if (word == "CHANNEL") word = wire::lock::names(trial_key(facts, settings)).channel;
    words.push_back(std::move(word));
  }
  return words;
}

void refuse(NodeFacts& facts, const std::string& question, const base::Reply& reply) {
  if (reply.is_error()) facts.refused[question] = in_words(reply.text);
}

Commands ask_info(const NodeFacts&, const Settings&) { return {{{"INFO"}}}; }
void read_info_reply(NodeFacts& facts, const Replies& replies) {
  facts.info = read_info(replies[0].is_text() ? replies[0].text : std::string_view());
  if (text_of(facts.info, "loading") == "1") facts.busy = "it is still loading its data";
  refuse(facts, "INFO", replies[0]);
}

Commands ask_config(const NodeFacts&, const Settings&) {
  Commands commands;
  for (const std::string_view name : kParameters) commands.push_back({{"CONFIG", "GET", std::string(name)}});
  return commands;
}
void read_config(NodeFacts& facts, const Replies& replies) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Fields said = read_pairs(replies[i]);
    const auto value = said.find(kParameters[i]);
    if (value != said.end()) facts.config.insert(*value);
  }
  refuse(facts, "CONFIG", replies[0]);
}

Commands ask_identity(const NodeFacts&, const Settings&) {
  return {{{"ROLE"}}, {{"CLIENT", "INFO"}}, {{"ACL", "WHOAMI"}}, {{"ACL", "GETUSER", "default"}}};
}
void read_identity(NodeFacts& facts, const Replies& replies) {
  facts.role = read_role(replies[0]);
  refuse(facts, "ROLE", replies[0]);
  if (facts.role.name.empty()) facts.role.name = text_of(facts.info, "role");
  if (replies[1].is_text()) facts.client = read_client_info(replies[1].text);
  if (replies[2].is_text()) facts.user = replies[2].text;
  for (std::size_t i = 0; i + 1 < replies[3].elements.size(); i += 2) {
    if (replies[3].elements[i].text != "flags") continue;
    const Replies& flags = replies[3].elements[i + 1].elements;
    const auto has = [&](std::string_view flag) {
      return std::ranges::any_of(flags, [&](const base::Reply& each) { return each.text == flag; });
    };
    facts.default_user_is_open = has("on") && has("nopass");
  }
}

/// Asks about the main command only, since COMMAND INFO knows `client|list` only from Redis 7 on.
Commands ask_commands(const NodeFacts&, const Settings&) {
  base::Command command{{"COMMAND", "INFO"}};
  for (const NeededCommand& each : needed_commands()) {
    command.args.emplace_back(each.name.substr(0, each.name.find(' ')));
  }
  return {std::move(command)};
}
void read_commands(NodeFacts& facts, const Replies& replies) {
  const auto needed = needed_commands();
  if (replies[0].elements.size() != needed.size()) return;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const base::Reply& told = replies[0].elements[i];
    const bool missing = told.is_null() || (told.is_array() && told.elements.empty());
    if (missing) facts.access[std::string(needed[i].name)] = Access::missing;
  }
}

Commands ask_dry_run(const NodeFacts& facts, const Settings& settings) {
  if (facts.user.empty()) return {};
  Commands commands;
  for (const NeededCommand& each : needed_commands()) {
    base::Command command{{"ACL", "DRYRUN", facts.user}};
    for (std::string& word : words_of(each, facts, settings)) command.args.push_back(std::move(word));
    commands.push_back(std::move(command));
  }
  return commands;
}
void read_dry_run(NodeFacts& facts, const Replies& replies) {
  // Any user who got this far may PING, so an error is about ACL DRYRUN itself.
  const auto needed = needed_commands();
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i].name == "ping" && replies[i].is_error()) return refuse(facts, "ACL DRYRUN", replies[i]);
  }
  facts.dry_run = true;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    Access& access = facts.access[std::string(needed[i].name)];
    if (access != Access::missing) access = read_access(replies[i]);
  }
}

Commands ask_own_rights(const NodeFacts& facts, const Settings&) {
  if (facts.user.empty()) return {};
  return {{{"ACL", "GETUSER", facts.user}}};
}
void read_own_rights(NodeFacts& facts, const Replies& replies) {
  facts.key_patterns = read_key_patterns(replies[0]);
  const Fields rights = read_pairs(replies[0]);
  facts.all_commands = text_of(rights, "commands") == "+@all";
}

/// From Redis 7 on a script can check its own user's permissions, without needing one for that. It then tries the
/// forbidden commands, which has no effect except to show the reason. ARGV: for each command its number of words, then
/// the words.
constexpr const char* kOwnCheck = R"(
local found, at = {}, 1
if not redis.acl_check_cmd then return found end
while ARGV[at] do
  local words = {unpack(ARGV, at + 1, at + ARGV[at])}
  at = at + 1 + #words
  local known, allowed = pcall(redis.acl_check_cmd, unpack(words))
  local said = known and 'OK' or 'unknown command'
  if known and not allowed then
    local refused = redis.pcall(unpack(words))
    said = type(refused) == 'table' and refused.err or ''
  end
  found[#found + 1] = said
end
return found)";

Commands ask_own_check(const NodeFacts& facts, const Settings& settings) {
  if (facts.dry_run) return {};
  base::Command command{{"EVAL", kOwnCheck, "0"}};
  for (const NeededCommand& each : needed_commands()) {
    std::vector<std::string> words = words_of(each, facts, settings);
    command.args.push_back(std::to_string(words.size()));
    std::ranges::move(words, std::back_inserter(command.args));
  }
  return {std::move(command)};
}
void read_own_check(NodeFacts& facts, const Replies& replies) {
  const auto needed = needed_commands();
  if (replies[0].elements.size() != needed.size()) return;  // an older server, or scripts are not permitted
  const auto access_of = [&](std::string_view name) -> Access& { return facts.access[std::string(name)]; };
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const base::Reply& said = replies[0].elements[i];
    Access& access = access_of(needed[i].name);
    if (access == Access::missing) continue;
    // Commands that no script may run are refused for that reason first.
    const bool hidden = base::contains(said.text, "not allowed from script");
    const bool named = needed[i].name.ends_with("subscribe") && !needed[i].name.ends_with("unsubscribe");
    if (!hidden) access = said.text.empty() ? Access::untested : read_access(said);
    if (said.text == "unknown command") access = Access::missing;
    if (hidden && !named) access = Access::denied;
    if (!hidden || !named) continue;
    const Access channel = access_of(needed[i].need == Need::lock ? "publish" : "spublish");
    if (channel == Access::allowed) access = Access::denied;
    if (channel == Access::other_names) access = Access::other_names;
  }
}

Commands ask_trials(const NodeFacts& facts, const Settings& settings) {
  Commands commands;
  for (const NeededCommand& each : needed_commands()) {
    if (each.harmless) commands.push_back({words_of(each, facts, settings)});
  }
  return commands;
}
void read_trials(NodeFacts& facts, const Replies& replies) {
  std::size_t i = 0;
  for (const NeededCommand& each : needed_commands()) {
    Access& access = facts.access[std::string(each.name)];
    if (!each.harmless) {
      if (access == Access::untested && facts.all_commands) access = Access::allowed;
      continue;
    }
    const base::Reply& reply = replies[i++];
    if (reply.is_error() && (reply.text.starts_with("BUSY") || reply.text.starts_with("LOADING"))) {
      facts.busy = in_words(reply.text);
    }
    access = access == Access::missing ? access : read_access(reply);
  }
}

Commands ask_slow_log(const NodeFacts&, const Settings&) { return {{{"SLOWLOG", "GET", "128"}}}; }
void read_slow_log_reply(NodeFacts& facts, const Replies& replies) {
  refuse(facts, "SLOWLOG", replies[0]);
  if (replies[0].is_array()) facts.slow = read_slow_log(replies[0]);
}

Commands ask_cluster(const NodeFacts& facts, const Settings& settings) {
  if (!settings.cluster || text_of(facts.info, "cluster_enabled") == "0") return {};
  return {{{"CLUSTER", "SLOTS"}}, {{"CLUSTER", "INFO"}}, {{"CLUSTER", "NODES"}}};
}
/// The host in `host:port` or `[address]:port`.
std::string host_of(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}
/// Without the format prefix that RESP3 adds to some texts.
std::string_view plain(std::string_view text) { return text.starts_with("txt:") ? text.substr(4) : text; }
void read_cluster(NodeFacts& facts, const Replies& replies) {
  refuse(facts, "CLUSTER SLOTS", replies[0]);
  refuse(facts, "CLUSTER INFO", replies[1]);
  refuse(facts, "CLUSTER NODES", replies[2]);
  ClusterWord word;
  if (auto view = redis::cluster::read_view(replies[0], {host_of(facts.address), 0})) {
    word.view = std::make_shared<const redis::cluster::View>(*std::move(view));
  }
  if (replies[1].is_text()) word.info = read_info(plain(replies[1].text));
  if (replies[2].is_text()) word.nodes = read_cluster_nodes(plain(replies[2].text));
  facts.cluster = std::move(word);
}

Commands ask_sentinel(const NodeFacts&, const Settings& settings) {
  const std::string& name = settings.sentinel_primary;
  return {{{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name}},
          {{"SENTINEL", "MASTER", name}},
          {{"SENTINEL", "SLAVES", name}},
          {{"SENTINEL", "SENTINELS", name}},
          {{"SENTINEL", "CKQUORUM", name}}};
}
void read_sentinel(NodeFacts& facts, const Replies& replies) {
  refuse(facts, "SENTINEL", replies[0]);
  if (replies[0].is_error()) return;
  SentinelView view;
  if (replies[0].elements.size() == 2) {
    view.host = replies[0].elements[0].text;
    view.port = to_port(replies[0].elements[1].text);
  }
  view.primary = read_pairs(replies[1]);
  for (const base::Reply& each : replies[2].elements) view.replicas.push_back(read_pairs(each));
  for (const base::Reply& each : replies[3].elements) view.others.push_back(read_pairs(each));
  view.quorum = in_words(replies[4].text);
  view.quorum_met = replies[4].is_text();
  facts.sentinel = std::move(view);
}

constexpr Question kServer[] = {
    {"INFO", ask_info, read_info_reply},
    {"ROLE", ask_identity, read_identity},
    {"CONFIG", ask_config, read_config},
    {"COMMAND", ask_commands, read_commands},
    {"ACL GETUSER", ask_own_rights, read_own_rights},
    {"ACL DRYRUN", ask_dry_run, read_dry_run},
    {"ACL check", ask_own_check, read_own_check},
    {"CLUSTER", ask_cluster, read_cluster},
    {"SLOWLOG", ask_slow_log, read_slow_log_reply},
    {"trial of commands", ask_trials, read_trials},
};

constexpr Question kSentinel[] = {
    {"INFO", ask_info, read_info_reply},
    {"SENTINEL", ask_sentinel, read_sentinel},
};

}  // namespace

std::span<const Question> questions_for_server() { return kServer; }
std::span<const Question> questions_for_sentinel() { return kSentinel; }
std::span<const std::string_view> asked_parameters() { return kParameters; }

base::Command ask_members() { return {{"CLUSTER", "SLOTS"}}; }

ClusterMembers read_members(const base::Reply& reply, const NodeAddress& asked) {
  ClusterMembers members;
  const auto view = redis::cluster::read_view(reply, asked);
  if (!view) return members;
  for (const redis::cluster::Primary& each : view->primaries) members.primaries.push_back(each.address);
  members.replicas = view->replicas;
  return members;
}

base::Command ask_time() { return {{"TIME"}}; }

std::optional<microseconds> read_time(const base::Reply& reply) {
  if (!reply.is_array() || reply.elements.size() != 2) return std::nullopt;
  const Fields parts = read_pairs({.kind = base::Reply::Kind::array,
                                   .elements = {{.kind = base::Reply::Kind::text, .text = "s"},
                                                reply.elements[0],
                                                {.kind = base::Reply::Kind::text, .text = "us"},
                                                reply.elements[1]}});
  const auto seconds = number_of(parts, "s");
  const auto rest = number_of(parts, "us");
  constexpr long long kYear9999 = 253'402'300'800;
  if (!seconds || !rest || *seconds < 0 || *seconds >= kYear9999 || *rest < 0 || *rest >= 1'000'000)
    return std::nullopt;
  return std::chrono::seconds(*seconds) + microseconds(*rest);
}

base::Command ask_ping() { return {{"PING"}}; }

RoundTrips summarize(std::vector<microseconds> round_trips) {
  std::ranges::sort(round_trips);
  const auto at = [&](std::size_t percent) { return round_trips[(round_trips.size() - 1) * percent / 100]; };
  return {at(50), at(99)};
}

}  // namespace holdfast::probing
