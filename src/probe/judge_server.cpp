// SPDX-License-Identifier: Apache-2.0
// A server's software, persistence, and treatment of connections.
#include <algorithm>
#include <charconv>
#include <compare>
#include <span>
#include <system_error>

#include "base/text.hpp"
#include "probe/findings.hpp"

namespace holdfast::probing {
namespace {

std::string percent(long long part, long long whole) { return std::to_string(part * 100 / whole) + " %"; }

/// `1 byte`, `157.2 MB`.
std::string bytes(long long number) {
  if (number < 10'000) return counted(static_cast<std::size_t>(std::max(0LL, number)), "byte");
  const bool many = number >= 1'000'000;
  const long long tenths = number / (many ? 100'000 : 100);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + (many ? " MB" : " kB");
}

/// Nine tenths or more.
bool is_near(long long part, long long whole) { return part >= whole - whole / 10; }

struct Version {
  long long major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};

/// From `8.0.2` and anything that follows it; empty for other texts.
std::optional<Version> read_version(std::string_view text) {
  Version version;
  for (long long* part : {&version.major, &version.minor, &version.patch}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *part);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with('.')) text.remove_prefix(1);
  }
  return version;
}

/// The version of each release line that fixed the vulnerabilities, and the first line that never had them.
constexpr Version kRedisMended[] = {{7, 2, 14}, {7, 4, 9}, {8, 2, 6}, {8, 4, 3}, {8, 6, 3}, {8, 8, 0}};
constexpr Version kValkeyMended[] = {{7, 2, 13}, {8, 0, 9}, {8, 1, 7}, {9, 0, 4}, {9, 1, 0}};

/// The published vulnerabilities of a version. Redis 6 never had them, and 7.0 only the first.
std::string known_holes(const Version& version, bool redis) {
  if (version.major < 7) return "";
  const std::span<const Version> mended =
      redis ? std::span<const Version>(kRedisMended) : std::span<const Version>(kValkeyMended);
  const auto line = std::ranges::find_if(
      mended, [&](const Version& each) { return each.major == version.major && each.minor == version.minor; });
  if (line == mended.end() ? version > mended.back() : version >= *line) return "";
  return redis && version.major == 7 && version.minor == 0 ? "CVE-2026-23631" : "CVE-2026-23631, CVE-2026-23479";
}

void judge_holes(const Software& software, Findings& out) {
  const bool redis = software.name == "Redis";
  const auto version = read_version(software.version);
  if (!version || (!redis && software.name != "Valkey")) return;
  const std::string holes = known_holes(*version, redis);
  if (holes.empty()) return out.ok("holes", "none of those that are known");
  out.add(Severity::unknown, "holes",
          base::printable(software.name + " " + software.version) +
              ", as it was published, has a hole by which a user may take it over (" + holes + ")",
          "a later version; or look for it in the package's changelog: distributions fix it under the same number");
}

/// The hard limit for subscribers in `normal 0 0 0 slave ... pubsub HARD SOFT SECONDS`.
std::optional<long long> pubsub_limit(const Fields& config) {
  const std::string_view limits = text_of(config, "client-output-buffer-limit");
  const std::size_t at = limits.find("pubsub ");
  if (at == std::string_view::npos) return std::nullopt;
  return number_of(Fields{{"limit", std::string(limits.substr(at + 7))}}, "limit");
}

void judge_eviction(const NodeFacts& node, Findings& out) {
  const std::string policy(text_of(node.info, "maxmemory_policy"));
  const long long limit = number_of(node.info, "maxmemory").value_or(0);
  if (policy.empty()) {
    if (!node.info.empty()) out.unknown("eviction", "INFO does not say what is evicted when memory runs out");
    return;
  }
  if (policy == "noeviction") return out.ok("eviction", "nothing is evicted (noeviction)");
  const std::string advice = "CONFIG SET maxmemory-policy noeviction, or a server of its own for locks";
  if (limit == 0) {
    return out.note("eviction", policy + ", without effect as long as maxmemory is 0", advice);
  }
  const long long evicted = number_of(node.info, "evicted_keys").value_or(0);
  out.danger("eviction",
             policy + ": when memory runs out, locks that are held are evicted; so far " +
                 counted(static_cast<std::size_t>(evicted), "key"),
             advice);
}

void judge_memory(const NodeFacts& node, Findings& out) {
  const auto limit = number_of(node.info, "maxmemory");
  const auto used = number_of(node.info, "used_memory");
  if (!limit || !used) return;
  if (*limit == 0) return out.ok("memory", "no limit (maxmemory 0)");
  // Buffers of replicas and of the append-only file are not counted.
  const long long counts = *used - number_of(node.info, "mem_not_counted_for_evict").value_or(0);
  if (counts > *limit && text_of(node.info, "maxmemory_policy") == "noeviction") {
    return out.danger("memory",
                      "no memory left for new keys: " + bytes(counts) + " are used, and maxmemory is " + bytes(*limit) +
                          "; locks are refused (OOM)",
                      "raise maxmemory, or find out what fills it");
  }
  const std::string text =
      *used > *limit ? "all of maxmemory is used" : percent(*used, *limit) + " of maxmemory is used";
  if (!is_near(*used, *limit)) return out.ok("memory", text);
  out.warning("memory", text + "; beyond it, locks are refused (OOM)", "raise maxmemory, or find out what fills it");
}

std::string fsync(const NodeFacts& node) {
  const std::string_view policy = text_of(node.config, "appendfsync");
  return policy.empty() ? "not known" : base::printable(policy);
}

void judge_persistence(const NodeFacts& node, Findings& out) {
  if (text_of(node.info, "rdb_last_bgsave_status") == "err" || text_of(node.info, "aof_last_write_status") == "err") {
    out.warning("disk", "its last attempt to write to disk failed: it may refuse writes (MISCONF)",
                "look at its log and at its disk");
  }
  const bool has_replicas = number_of(node.info, "connected_slaves").value_or(0) > 0;
  switch (keeps_of(node)) {
    case ProbedNode::Keeps::unknown:
      if (!node.info.empty()) out.unknown("persistence", "what a restart forgets is not known");
      return;
    case ProbedNode::Keeps::all:
      return out.ok("persistence", "a restart forgets nothing (appendfsync always)");
    case ProbedNode::Keeps::all_but_seconds:
      return out.note(
          "persistence",
          "a crash of the machine may forget the locks of about the last second (appendfsync " + fsync(node) + ")");
    case ProbedNode::Keeps::snapshot:
      return out.note("persistence", "a crash forgets the locks since the last snapshot",
                      "appendonly yes, and appendfsync always if it is one of a RedLock's servers");
    case ProbedNode::Keeps::nothing:
      break;
  }
  if (has_replicas) {
    return out.warning("persistence",
                       "nothing is kept on disk: if it is restarted before a failover, it is empty, and its replicas "
                       "empty themselves after it",
                       "appendonly yes, or no automatic restart of the primary");
  }
  out.note("persistence", "nothing is kept on disk: a restart forgets all locks", "appendonly yes, if that matters");
}

}  // namespace

Software software_of(const NodeFacts& node) {
  const Fields& info = node.info;
  const std::string_view redis = text_of(info, "redis_version");
  const long long major = number_of(info, "redis_version").value_or(0);
  const auto named = [&](const char* name, std::string_view version) {
    return Software{name, std::string(version), major};
  };
  for (const auto& [name, field] : {std::pair{"Valkey", "valkey_version"},
                                    {"Dragonfly", "dragonfly_version"},
                                    {"Kvrocks", "kvrocks_version"},
                                    {"KeyDB", "keydb_version"}}) {
    if (info.contains(field)) return named(name, text_of(info, field));
  }
  if (base::contains(text_of(info, "executable"), "keydb") || info.contains("mvcc_depth")) return named("KeyDB", redis);
  return redis.empty() ? Software{} : named("Redis", redis);
}

ProbedNode::Keeps keeps_of(const NodeFacts& node) {
  using Keeps = ProbedNode::Keeps;
  const std::string_view aof = text_of(node.info, "aof_enabled");
  if (aof == "1") return text_of(node.config, "appendfsync") == "always" ? Keeps::all : Keeps::all_but_seconds;
  if (aof.empty() || !node.config.contains("save")) return Keeps::unknown;
  return text_of(node.config, "save").empty() ? Keeps::nothing : Keeps::snapshot;
}

void judge_kind(const NodeFacts& node, const Settings& settings, Findings out) {
  const Software software = software_of(node);
  const std::string text = base::printable(software.name + " " + software.version);
  if (software.name.empty()) {
    out.unknown("version", "it does not say what it is; perhaps a proxy is in between");
  } else if (software.major != 0 && software.major < 6) {
    out.danger("version", text + " is too old", "Redis 6.0 or later, or Valkey");
  } else if (software.name == "Redis" || software.name == "Valkey") {
    out.ok("version", text);
  } else {
    out.note("version", text + ": Holdfast is tested with Redis and Valkey only");
  }
  judge_holes(software, out);
  if (!node.busy.empty()) {
    out.danger("busy", node.busy, "wait; a script that does not end is stopped by SCRIPT KILL");
  }
  const bool in_cluster = text_of(node.info, "cluster_enabled") == "1" || text_of(node.info, "redis_mode") == "cluster";
  if (in_cluster && !settings.cluster) {
    out.danger("cluster", "it is a node of a cluster, and the URL is that of a single server: most locks are refused",
               "redis+cluster://host:port, or rediss+cluster://");
  } else if (settings.cluster && !in_cluster) {
    out.danger("cluster", "the URL is that of a cluster, and it is no node of one", "redis://host:port, or rediss://");
  } else if (in_cluster) {
    out.ok("cluster", "it is a node of a cluster");
  }
  const std::string& role = node.role.name;
  if (role == "sentinel" || text_of(node.info, "redis_mode") == "sentinel") {
    return out.danger("role", "it is a Sentinel, which has no locks",
                      "redis+sentinel://host:26379/NAME-OF-THE-PRIMARY, or the address of the server itself");
  }
  if (role == "slave") {
    std::string primary = node.role.primary_host.empty()
                              ? ""
                              : " of " + node.role.primary_host + ":" + std::to_string(node.role.primary_port);
    return out.danger("role", "it is a replica" + primary + ", and takes no writes",
                      settings.sentinel_primary.empty() ? "the address of the primary, or redis+sentinel://..." : "");
  }
  if (role == "master") return out.ok("role", "it is a primary");
  out.unknown("role", "it does not say whether it is a primary");
}

void judge_data(const NodeFacts& node, Findings out) {
  judge_eviction(node, out);
  judge_memory(node, out);
  judge_persistence(node, out);
}

void judge_connections(const NodeFacts& node, const Settings& settings, Findings out) {
  const auto clients = number_of(node.info, "connected_clients");
  auto limit = number_of(node.info, "maxclients");  // missing in Redis 6.0
  if (!limit) limit = number_of(node.config, "maxclients");
  if (clients && limit && *limit > 0) {
    const std::string text = std::to_string(*clients) + " of " + std::to_string(*limit) + " connections are in use";
    if (is_near(*clients, *limit)) {
      out.warning("maxclients", text + "; a client that reconnects may be refused", "raise maxclients");
    } else {
      out.ok("maxclients", text);
    }
  }
  // An idle connection sends a PING every tenth of the lease, from 1 s to 10 s.
  const auto interval =
      std::clamp(settings.lease / 10, std::chrono::milliseconds(1000), std::chrono::milliseconds(10000));
  if (const auto idle = number_of(node.config, "timeout")) {
    if (*idle > 0 && std::chrono::seconds(*idle) <= 2 * interval) {
      out.warning("idle_timeout",
                  "connections that are idle for " + std::to_string(*idle) +
                      " s are closed: too soon for a client that "
                      "waits",
                  "CONFIG SET timeout 0");
    } else {
      out.ok("idle_timeout", *idle == 0 ? "idle connections stay" : "idle connections stay long enough");
    }
  }
  if (const auto buffer = pubsub_limit(node.config)) {
    constexpr long long kSmall = 1 << 20;
    if (*buffer > 0 && *buffer < kSmall) {
      out.warning("pubsub_buffer",
                  "a subscriber with more than " + std::to_string(*buffer) + " bytes to be read is disconnected",
                  "CONFIG SET client-output-buffer-limit \"pubsub 32mb 8mb 60\"");
    } else {
      out.ok("pubsub_buffer", "subscribers are not cut off early");
    }
  }
  if (node.round_trips) {
    const RoundTrips& times = *node.round_trips;
    const std::string text = "round trip: " + in_words(times.p50) + " (p50), " + in_words(times.p99) + " (p99)";
    if (times.p99 > settings.lease / 10 || times.p99 > std::chrono::seconds(1)) {
      out.warning("round_trip", text + ": long, for a lease of " + in_words(settings.lease),
                  "a longer lease, a nearer server, or one with less to do");
    } else {
      out.ok("round_trip", text);
    }
  }
  if (!node.slow) return;
  if (node.slow->count == 0) return out.ok("slow_scripts", "no script in the slow log");
  const std::string text =
      counted(node.slow->count, "script") + " in the slow log, up to " + in_words(node.slow->longest);
  const std::string advice = "SLOWLOG GET: while a script runs, nothing else does";
  out.add(node.slow->longest >= std::chrono::milliseconds(100) ? Severity::warning : Severity::note, "slow_scripts",
          text, advice);
}

void judge_keys(const NodeFacts& node, Findings out) {
  if (!node.keys) return;
  const KeysSeen& keys = *node.keys;
  const std::string where =
      " among " + counted(keys.looked_at, "key") + (keys.all ? "" : ", which are not all: there are more");
  if (keys.eternal > 0) {
    std::string names;
    for (const std::string& name : keys.eternal_names) names += (names.empty() ? "" : ", ") + base::quote(name);
    out.warning("eternal_locks",
                counted(keys.eternal, "lock") + " without expiry" + where + ": " + names +
                    (keys.eternal > keys.eternal_names.size() ? ", ..." : ""),
                "nobody's lease ends them: find out whose they are (holdfast inspect), then holdfast break");
  } else {
    out.ok("eternal_locks", "no lock without expiry" + where);
  }
  if (keys.latches > 0) {
    out.note("latches", counted(keys.latches, "key") + " left behind by Redisson's unlock, without expiry," + where,
             "they hold no lock and only take memory");
  }
}

}  // namespace holdfast::probing
