// SPDX-License-Identifier: Apache-2.0
#include "cli/server_watch.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <tuple>

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/version.hpp>

#include "base/duration.hpp"
#include "base/text.hpp"
#include "cli/console.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;

/// The most queues per look: each needs a query of its own.
constexpr std::size_t kMostQueues = 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Adds the queues of fair locks, which a list does not distinguish from other locks, and whose waiters do not listen
/// like those of others.
void add_queues(const Client& client, std::vector<FoundLock>& locks) {
  std::size_t left = kMostQueues;
  for (auto& [kind, lock] : locks) {
    if (kind != LockKind::lock || lock.listeners.value_or(0) > 0) continue;
    if (left-- == 0) return;
    try {
      LockInfo told = client.fair_lock(lock.name).info(InfoDetail::holder_if_cheap);
      if (told.owner != lock.owner || told.queued.value_or(0) == 0) continue;
      lock.queued = told.queued;
      lock.queue = std::move(told.queue);
    } catch (const Error&) {
      return;  // not permitted, or too late: the list is kept without it
    }
  }
}

/// Who only looks at a queue cannot disturb its order.
Config for_reading(Config config) {
  config.fair_with_prefix = true;
  return config;
}

/// The result of one look; `up` is false if the server did not answer.
void look(const Client& client, const ServerWatch::Settings& settings, SeenServer& seen) {
  const auto begun = steady_clock::now();
  seen.listed.clear();
  seen.trouble.clear();
  try {
    std::vector<FoundLock> locks = list_kinds(client, settings.pattern, settings.kinds, InfoDetail::holder);
    seen.up = true;
    if (settings.queues) add_queues(client, locks);
    count_locks(seen, locks);
    if (locks.size() > settings.most_kept) {
      std::ranges::stable_sort(locks, std::greater(),
                               [](const FoundLock& each) { return each.lock.listeners.value_or(0); });
      locks.resize(settings.most_kept);
    }
    seen.listed = std::move(locks);
    seen.answered_at = system_clock::now();
  } catch (const Error& error) {
    seen.up = false;
    seen.trouble = error.what();
  }
  seen.took = steady_clock::now() - begun;
}

/// Without an answer there are no findings.
void examine(const Client& client, SeenServer& seen) {
  try {
    ProbeReport report = probe(client);
    if (report.reached()) seen.findings = std::move(report.findings);
  } catch (const Error&) {
    seen.findings.reset();
  }
}

struct Families {
  MetricFamily up{.name = "holdfast_server_up", .help = "Whether the server has answered the latest check."};
  MetricFamily locks{.name = "holdfast_server_locks", .help = "Locks that are held there."};
  MetricFamily waiters{.name = "holdfast_server_waiters", .help = "Connections that wait for the release of a lock."};
  MetricFamily lowest{.name = "holdfast_server_lowest_ttl_seconds",
                      .help = "The least time to live of any lock; +Inf if there is none with an expiry."};
  MetricFamily endless{.name = "holdfast_server_locks_without_expiry",
                       .help = "Locks that nothing ends but a release."};
  MetricFamily findings{.name = "holdfast_server_findings", .help = "What the doctor has found, by severity."};
  MetricFamily finding{.name = "holdfast_server_finding", .help = "What the doctor has found, worse than a note: 1."};
  MetricFamily took{.name = "holdfast_server_check_seconds", .help = "How long the latest check took."};
  MetricFamily answered{.name = "holdfast_server_check_timestamp_seconds",
                        .help = "When the server last answered one."};
};

void add_findings(Families& to, const MetricLabel& server, const std::vector<Finding>& findings) {
  for (const Severity severity :
       {Severity::ok, Severity::note, Severity::unknown, Severity::warning, Severity::danger}) {
    const auto count = std::ranges::count(findings, severity, &Finding::severity);
    to.findings.metrics.push_back({{server, {"severity", to_string(severity)}}, static_cast<double>(count)});
  }
  std::set<std::tuple<std::string, std::string, Severity>> told;  // a node may have several of the same
  for (const Finding& each : findings) {
    if (each.severity < Severity::warning || !told.emplace(each.node, each.id, each.severity).second) continue;
    const MetricLabel at{"at", base::without_logins(each.node)};
    to.finding.metrics.push_back({{server, at, {"id", each.id}, {"severity", to_string(each.severity)}}, 1});
  }
}

void add(Families& to, const SeenServer& seen) {
  const MetricLabel server{"node", seen.server};
  to.up.metrics.push_back({{server}, seen.up ? 1.0 : 0.0});
  to.took.metrics.push_back({{server}, base::in_seconds(seen.took)});
  if (seen.answered_at)
    to.answered.metrics.push_back({{server}, base::in_seconds(seen.answered_at->time_since_epoch())});
  if (!seen.up) return;
  to.locks.metrics.push_back({{server}, static_cast<double>(seen.locks)});
  to.waiters.metrics.push_back({{server}, static_cast<double>(seen.waiters)});
  to.lowest.metrics.push_back({{server}, seen.lowest_ttl ? base::in_seconds(*seen.lowest_ttl) : kInfinity});
  to.endless.metrics.push_back({{server}, static_cast<double>(seen.without_expiry)});
  if (seen.findings) add_findings(to, server, *seen.findings);
}

}  // namespace

void count_locks(SeenServer& seen, const std::vector<FoundLock>& locks) {
  seen.locks = locks.size();
  seen.without_expiry = 0;
  seen.waiters = 0;
  seen.lowest_ttl.reset();
  for (const auto& [kind, lock] : locks) {
    seen.waiters += lock.listeners.value_or(0);
    if (!lock.remaining) {
      ++seen.without_expiry;
    } else if (!seen.lowest_ttl || *lock.remaining < *seen.lowest_ttl) {
      seen.lowest_ttl = lock.remaining;
    }
  }
}

Metrics metrics_of(const std::vector<SeenServer>& servers) {
  Families all;
  for (const SeenServer& seen : servers) add(all, seen);
  MetricFamily build{.name = "holdfast_build_info", .help = "The version of this tool: 1."};
  build.metrics.push_back({{{"version", HOLDFAST_VERSION_STRING}}, 1});
  return {.families = {std::move(build), std::move(all.up), std::move(all.locks), std::move(all.waiters),
                       std::move(all.lowest), std::move(all.endless), std::move(all.findings), std::move(all.finding),
                       std::move(all.took), std::move(all.answered)}};
}

ServerWatch::ServerWatch(Config config, Settings settings)
    : config_(for_reading(std::move(config))), settings_(std::move(settings)) {
  seen_.server = config_.node();
  seen_.looked_at = steady_clock::now();
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

SeenServer ServerWatch::seen() const {
  const std::scoped_lock guard(mutex_);
  return seen_;
}

void ServerWatch::watch(const std::stop_token& stop) {
  std::optional<Client> client;
  auto examine_at = steady_clock::time_point::min();
  while (!stop.stop_requested()) {
    SeenServer next = seen();
    try {
      if (!client) client.emplace(config_);
      look(*client, settings_, next);
      if (!next.up) next.findings.reset();
      const bool again = !next.findings || steady_clock::now() >= examine_at;
      if (next.up && settings_.doctor.count() > 0 && again) {
        examine(*client, next);
        examine_at = steady_clock::now() + settings_.doctor;
      }
    } catch (const std::exception& error) {
      next.up = false;  // no thread, descriptor or memory
      next.trouble = error.what();
    }
    ++next.looks;
    next.looked_at = steady_clock::now();
    std::unique_lock guard(mutex_);
    seen_ = std::move(next);
    if (settings_.looked) settings_.looked();
    stopped_.wait_for(guard, stop, settings_.interval, [] { return false; });
  }
}

ServerWatches watch_all(std::vector<Config> configs, const char* label, const ServerWatch::Settings& settings) {
  ServerWatches watches;
  for (Config& config : configs) {
    if (config.label.empty()) config.label = label;
    watches.push_back(std::make_unique<ServerWatch>(std::move(config), settings));
  }
  return watches;
}

std::vector<SeenServer> seen_by(const ServerWatches& watches) {
  std::vector<SeenServer> seen;
  for (const auto& watch : watches) seen.push_back(watch->seen());
  return seen;
}

}  // namespace holdfast::cli
