// SPDX-License-Identifier: Apache-2.0
// What the client's user may do, and who else gets in.
#include <algorithm>

#include "base/text.hpp"
#include "kinds/lock.hpp"
#include "probe/commands.hpp"
#include "probe/findings.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::probing {
namespace {

Access access_to(const NodeFacts& node, std::string_view command) {
  const auto found = node.access.find(std::string(command));
  return found == node.access.end() ? Access::untested : found->second;
}

/// The commands with this access and this need.
std::vector<const NeededCommand*> with(const NodeFacts& node, Access access, Need need) {
  std::vector<const NeededCommand*> found;
  for (const NeededCommand& each : needed_commands()) {
    if (each.need == need && access_to(node, each.name) == access) found.push_back(&each);
  }
  return found;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

std::string names(const std::vector<const NeededCommand*>& commands) {
  std::string text;
  for (const NeededCommand* each : commands) text += (text.empty() ? "" : ", ") + upper(each->name);
  return text;
}

/// Each with its purpose.
std::string uses(const std::vector<const NeededCommand*>& commands) {
  std::string text;
  for (const NeededCommand* each : commands) {
    text += (text.empty() ? "" : "; ") + upper(each->name) + ": " + std::string(each->what_for);
  }
  return text;
}

std::string set_user(const NodeFacts& node) {
  return "ACL SETUSER " + (node.user.empty() ? "USER" : base::printable(node.user));
}

std::string grant(const NodeFacts& node, const std::vector<const NeededCommand*>& commands) {
  std::string text = set_user(node);
  for (const NeededCommand* each : commands) {
    std::string name(each->name);
    std::ranges::replace(name, ' ', '|');
    text += " +" + name;
  }
  return text + " (docs/least-acl.acl)";
}

void judge_needed(const NodeFacts& node, Need need, Severity severity, const char* what, Findings& out) {
  const auto denied = with(node, Access::denied, need);
  const auto missing = with(node, Access::missing, need);
  if (!denied.empty()) {
    out.add(severity, "permissions", std::string(what) + " needs what is not permitted: " + uses(denied),
            grant(node, denied));
  }
  if (!missing.empty()) {
    const bool scripts = access_to(node, "eval") == Access::missing && need == Need::lock;
    out.add(severity, "commands", std::string(what) + " needs what this server does not have: " + uses(missing),
            std::string("renamed or removed (rename-command), or a proxy in between") +
                (scripts ? std::string("; ") + redis::kNoLua : ""));
  }
}

constexpr const char* kTry = "holdfast doctor --try NAME takes the lock of that name and gives it back";

void judge_untried(const NodeFacts& node, Findings& out) {
  const auto untested = with(node, Access::untested, Need::lock);
  if (untested.empty()) {
    const bool some_lacking =
        !with(node, Access::denied, Need::lock).empty() || !with(node, Access::missing, Need::lock).empty();
    if (!some_lacking) out.ok("permissions", "every command of a Lock is permitted");
    return;
  }
  const auto refused = node.refused.find("ACL DRYRUN");
  const std::string why = refused == node.refused.end() ? "" : " (ACL DRYRUN: " + refused->second + ")";
  out.warning("untried", "not tried, since that would change something: " + names(untested) + why, kTry);
}

/// Which keys and channels the user may use.
void judge_names(const NodeFacts& node, const Settings& settings, Findings& out) {
  const auto refused = with(node, Access::other_names, Need::lock);
  if (!settings.lock.empty()) {
    if (refused.empty()) return out.ok("names", "the key and the channel of the lock are permitted");
    const std::string key = settings.name_prefix + settings.lock;
    return out.danger(
        "names", "the user may not use the key or the channel of lock " + base::quote(key) + ": " + uses(refused),
        set_user(node) + " ~" + base::printable(key) + " &" + base::printable(wire::lock::names(key).channel));
  }
  if (!node.key_patterns) {
    if (refused.empty()) return;
    return out.warning("untried",
                       "the user may use some keys or channels only, and may not ask which: not known whether a lock's "
                       "are among them",
                       kTry);
  }
  const std::vector<std::string>& patterns = *node.key_patterns;
  std::string keys;
  for (const std::string& each : patterns) keys += (keys.empty() ? "~" : " ~") + base::printable(each);
  const std::string user = set_user(node);
  if (patterns.empty()) {
    return out.danger("names", "the user may read and write no key",
                      user + " ~lock:*, if that is how locks are called");
  }
  if (!refused.empty()) {
    return out.danger("names",
                      "the user may use the keys " + keys +
                          ", but not with the channels of such locks, or not under "
                          "the name_prefix: " +
                          uses(refused),
                      user + " &" + base::printable(wire::lock::names(patterns.front()).channel));
  }
  if (std::ranges::find(patterns, "*") != patterns.end()) return;
  out.note("names", "the user may use some keys only: " + keys,
           "the names of all locks must be among them, and their channels (docs/least-acl.acl)");
}

struct Feature {
  const char* id;
  std::string_view command;
  const char* what;  ///< What works with it.
  bool wanted;       ///< Required by the client's settings.
};

void judge_feature(const NodeFacts& node, const Feature& feature, Findings& out) {
  const std::string name = upper(feature.command);
  switch (access_to(node, feature.command)) {
    case Access::allowed:
    case Access::other_names:
      return out.ok(feature.id, name + " is there");
    case Access::untested:
      return out.unknown(feature.id, name + " could not be tried without doing it");
    case Access::denied:
    case Access::missing:
      break;
  }
  const bool denied = access_to(node, feature.command) == Access::denied;
  const std::string text = name + (denied ? " is not permitted" : " is not there") + ", so no " + feature.what;
  out.add(feature.wanted ? Severity::warning : Severity::note, feature.id, text,
          denied ? "ACL SETUSER ... +" + std::string(feature.command.substr(0, feature.command.find(' '))) : "");
}

enum class Reach { here, private_network, anywhere, unknown };

Reach reach_of(std::string_view host) {
  const auto begins = [&](std::initializer_list<std::string_view> prefixes) {
    return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return host.starts_with(prefix); });
  };
  if (host.empty()) return Reach::unknown;
  if (begins({"127.", "[::1]"}) || host == "::1" || host == "localhost") return Reach::here;
  const bool is_v6 = host.find(':') != std::string_view::npos;
  if (!is_v6 && host.find_first_not_of("0123456789.") != std::string_view::npos) return Reach::unknown;
  if (begins({"10.", "192.168.", "169.254.", "fd", "fc", "fe80", "[fd", "[fc", "[fe80"})) return Reach::private_network;
  if (host.starts_with("172.")) {
    const auto second = number_of(Fields{{"second", std::string(host.substr(4))}}, "second").value_or(0);
    if (second >= 16 && second <= 31) return Reach::private_network;
  }
  return Reach::anywhere;
}

/// How far away the server is: by its address as the user wrote it, or else by its own end of the connection, which
/// Redis reports since 6.2, or else by the address at which it was asked.
Reach reach_of(const NodeFacts& node, const Settings& settings) {
  if (settings.unix_socket) return Reach::here;
  const auto host_of = [](std::string_view address) { return address.substr(0, address.rfind(':')); };
  for (const std::string_view host :
       {std::string_view(settings.host), host_of(text_of(node.client, "laddr")), host_of(node.address)}) {
    if (const Reach reach = reach_of(host); reach != Reach::unknown) return reach;
  }
  return Reach::unknown;
}

}  // namespace

void judge_access(const NodeFacts& node, const Settings& settings, Findings out) {
  judge_needed(node, Need::lock, Severity::danger, "a Lock", out);
  judge_needed(node, Need::simple, Severity::note, "a SimpleLock", out);
  judge_needed(node, Need::some, Severity::note, "a client", out);
  judge_untried(node, out);
  judge_names(node, settings, out);
  const bool wants_aof = settings.acks.level() == Acks::Level::aof;
  judge_feature(node, {"wait", "wait", "acks", settings.acks.wanted() && !wants_aof}, out);
  judge_feature(node, {"waitaof", "waitaof", "acks=aof (Redis 7.2 or later)", wants_aof}, out);
  judge_feature(
      node, {"tracking", "client tracking", "loss notice: a loss is told up to a third of a lease later", false}, out);
  judge_feature(
      node,
      {"protocol", "hello", "RESP3: a second connection is for those who wait, and there is no loss notice", false},
      out);
  const char* sharded = settings.cluster ? "sharded channels: releases are told to all nodes of the cluster"
                                         : "sharded channels (which only a cluster needs)";
  judge_feature(node, {"spublish", "spublish", sharded, false}, out);
}

void judge_exposure(const NodeFacts& node, const Settings& settings, Findings out) {
  const Reach reach = reach_of(node, settings);
  if (settings.tls && !settings.verifies) {
    out.warning("tls", "encrypted, but verify=none: any server is trusted, so whoever stands between gets the password",
                "verify=full, and ca_file if the certificate is from an authority of your own");
  } else if (settings.tls && !settings.verifies_host) {
    out.note("tls", "encrypted, but verify=ca: any server with a certificate of these authorities is trusted",
             "server_name, if the certificates carry a name; else a ca_file with an authority of your own");
  } else if (settings.tls) {
    out.ok("tls", "the connection is encrypted");
  } else if (reach == Reach::here) {
    out.ok("tls", "no TLS, and none needed: it is on this machine");
  } else {
    out.add(reach == Reach::anywhere ? Severity::warning : Severity::note, "tls",
            "no TLS: the password and the names of locks can be read on the way", "rediss://");
  }

  const std::string_view bound = text_of(node.config, "bind");
  const bool listens_widely = node.config.contains("bind") &&
                              (bound.empty() || bound.find('*') != bound.npos || bound.find("0.0.0.0") != bound.npos);
  const bool is_protected = text_of(node.config, "protected-mode") != "no";
  // If the client itself has no password, it is known that others get in without one.
  if (!node.default_user_is_open && settings.password) return;
  if (!node.default_user_is_open.value_or(true)) return out.ok("password", "nobody gets in without a password");
  const std::string advice = "a password (requirepass, or ACL users), and `user default off`";
  if (reach != Reach::here || (listens_widely && !is_protected)) {
    return out.danger("password", "everybody who reaches it gets in: the default user has no password", advice);
  }
  out.note("password", "everybody on this machine gets in: the default user has no password", advice);
}

}  // namespace holdfast::probing
