#include "face/measured.hpp"

#include <limits>
#include <string>

#include <holdfast/version.hpp>

#include "base/duration.hpp"

namespace holdfast::face {
namespace {

using Type = MetricFamily::Type;

void add(Metrics& to, Type type, const char* name, const char* help, double value) {
  to.families.push_back({.name = name, .type = type, .help = help, .metrics = {{.value = value}}});
}

void add_counters(Metrics& to, const Counters& counters) {
  const auto count = [&](const char* name, const char* help, std::uint64_t value) {
    add(to, Type::counter, name, help, static_cast<double>(value));
  };
  count("holdfast_contended", "Grants that had to wait for somebody else.", counters.contended);
  count("holdfast_unknown_outcomes", "Acquires and releases of unknown outcome.", counters.unknown);
  count("holdfast_suspect", "Holds whose renewal failed while their deadline was still ahead.", counters.suspect);
  count("holdfast_missed_wakes", "Locks that were found free although no message had told of it.",
        counters.safety_poll_wakes);
  count("holdfast_acks_missed", "Grants and renewals that were not confirmed as asked for.", counters.acks_missed);
  count("holdfast_local_handoffs", "Holds that were passed on to another caller of the same client.",
        counters.local_handoffs);
  count("holdfast_events_dropped", "Events that did not reach the observer.", counters.events_dropped);
}

void add_connections(Metrics& to, engine::Runtime& runtime) {
  MetricFamily connected{
      .name = "holdfast_connected", .type = Type::gauge, .help = "Whether there is a connection to this server."};
  std::vector<std::pair<std::string, bool>> links = runtime.links().all();
  if (links.empty()) links.emplace_back(runtime.node(), false);
  for (const auto& [node, is] : links) connected.metrics.push_back({{{"node", node}}, is ? 1.0 : 0.0});
  to.families.push_back(std::move(connected));
}

}  // namespace

Metrics metrics_of(engine::Core& core) {
  engine::Runtime& runtime = core.runtime();
  const engine::Reporter& reporter = runtime.reporter();
  Metrics out;
  reporter.meter.read(out.families);
  const Counters counters = reporter.snapshot();
  add_counters(out, counters);
  const engine::Watchdog& watchdog = core.watchdog();
  add(out, Type::gauge, "holdfast_holds", "Holds that stand.", static_cast<double>(watchdog.holds()));
  add(out, Type::gauge, "holdfast_waiters", "Calls that wait for a lock.", static_cast<double>(counters.waiting));
  const std::optional<base::TimePoint> oldest = reporter.waits.oldest();
  add(out, Type::gauge, "holdfast_oldest_wait_seconds",
      "How long the call that waits longest has waited; 0 if none does.",
      oldest ? base::in_seconds(base::Clock::now() - *oldest) : 0.0);
  const std::optional<base::Duration> lowest = watchdog.lowest_validity();
  add(out, Type::gauge, "holdfast_lowest_validity_seconds",
      "The least that any hold is certainly valid for; +Inf if there is none.",
      lowest ? base::in_seconds(*lowest) : std::numeric_limits<double>::infinity());
  add_connections(out, runtime);
  out.families.push_back({.name = "holdfast_build",
                          .type = Type::info,
                          .help = "What this is.",
                          .metrics = {{.labels = {{"version", HOLDFAST_VERSION_STRING}}, .value = 1}}});
  return out;
}

}  // namespace holdfast::face
