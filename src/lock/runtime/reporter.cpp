// SPDX-License-Identifier: Apache-2.0
#include "lock/runtime/reporter.hpp"

#include <array>
#include <limits>

#include <holdfast/error.hpp>
#include <holdfast/version.hpp>

#include "base/duration.hpp"
#include "base/text.hpp"

namespace holdfast::engine {
namespace {

constexpr std::size_t kLongestLabel = 128;  // in bytes
constexpr std::array kResultNames{"granted", "busy", "timed_out", "cancelled", "crowded", "error"};
constexpr std::array kLossReasonsAll{LossReason::expired, LossReason::taken, LossReason::max_hold, LossReason::closed,
                                     LossReason::forked};

/// One label that is not UTF-8 would spoil the whole scrape, and a long one adds to every series.
std::string as_label(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    const std::string_view character = length == 0 ? std::string_view("?") : text.substr(0, length);
    if (out.size() + character.size() > kLongestLabel) break;
    out += character;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

MetricFamily family(std::string name, MetricFamily::Type type, std::string help, std::vector<double> bounds = {}) {
  return {.name = std::move(name), .type = type, .help = std::move(help), .bounds = std::move(bounds)};
}

std::vector<MetricLabel> with(std::vector<MetricLabel> labels, const char* name, const char* value) {
  labels.push_back({name, value});
  return labels;
}

struct Counted {
  Reporter::Counter which;
  /// As a metric of its own; without, the meter or a gauge shows it.
  const char* family = nullptr;
  const char* help = nullptr;
};

constexpr auto kCounted = std::to_array<Counted>({
    {&Counters::granted},
    {&Counters::contended, "holdfast_contended", "Grants that had to wait for somebody else."},
    {&Counters::not_granted},
    {&Counters::failed},
    {&Counters::released},
    {&Counters::renewals},
    {&Counters::renewal_batches},
    {&Counters::renewal_failures},
    {&Counters::lost},
    {&Counters::unknown, "holdfast_unknown_outcomes", "Acquires and releases of unknown outcome."},
    {&Counters::suspect, "holdfast_suspect", "Holds whose renewal failed while their deadline was still ahead."},
    {&Counters::misuses},
    {&Counters::wakes},
    {&Counters::safety_polls},
    {&Counters::safety_poll_wakes, "holdfast_missed_wakes",
     "Locks that were found free although no message had told of it."},
    {&Counters::connections},
    {&Counters::commands},
    {&Counters::watched},
    {&Counters::notices},
    {&Counters::watch_refusals},
    {&Counters::acks_waits},
    {&Counters::acks_missed, "holdfast_acks_missed", "Grants and renewals that were not confirmed as asked for."},
    {&Counters::local_handoffs, "holdfast_local_handoffs",
     "Holds that were passed on to another caller of the same client."},
    {&Counters::events_dropped, "holdfast_events_dropped", "Events that did not reach the observer."},
    {&Counters::waiting},
});
static_assert(sizeof(Counters) == (kCounted.size() + 1) * sizeof(std::uint64_t),
              "all but `holding`, which is no count");

}  // namespace

Meter::Meter(Classify classify) : classify_(std::move(classify)) {}

LockClass Meter::class_of(std::string_view name) noexcept {
  if (!classifies()) return 0;
  try {
    const std::string label = as_label(classify_(name));
    return label.empty() ? LockClass{0} : find_or_add(label);
  } catch (...) {
    return 0;  // only the label is missing, not the lock
  }
}

LockClass Meter::find_or_add(const std::string& label) {
  const base::Guard guard(mutex_);
  if (const auto found = known_.find(label); found != known_.end()) return found->second;
  if (labels_.size() >= kMostClasses) {
    overflows_.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  owned_.reserve(kMostClasses);
  labels_.reserve(kMostClasses);
  auto made = std::make_unique<OfClass>();
  std::string copy = label;
  const auto number = static_cast<LockClass>(labels_.size() + 1);
  known_.emplace(label, number);
  labels_.push_back(std::move(copy));  // no exceptions from here on
  classes_[number].store(made.get(), std::memory_order_release);
  owned_.push_back(std::move(made));
  return number;
}

Meter::Result Meter::result_of(std::error_code error) {
  if (!error) return Result::granted;
  if (error == Errc::busy) return Result::busy;
  if (error == Errc::timed_out) return Result::timed_out;
  if (error == Errc::cancelled) return Result::cancelled;
  if (error == Errc::crowded) return Result::crowded;
  return Result::error;
}

std::vector<std::pair<std::vector<MetricLabel>, const Meter::OfClass*>> Meter::all() const {
  std::vector<std::pair<std::vector<MetricLabel>, const OfClass*>> out;
  if (!classifies()) {
    out.emplace_back(std::vector<MetricLabel>(), &others_);
    return out;
  }
  const base::Guard guard(mutex_);
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    out.emplace_back(std::vector<MetricLabel>(1, {"lock", labels_[i]}), owned_[i].get());
  }
  out.emplace_back(std::vector<MetricLabel>(1, {"lock", "other"}), &others_);
  return out;
}

void Meter::read(std::vector<MetricFamily>& to) const {
  using Type = MetricFamily::Type;
  MetricFamily waits = family("holdfast_acquire_wait_seconds", Type::histogram,
                              "From the call of an acquire to its result.", Buckets<kWaitBounds>::bounds());
  MetricFamily holds = family("holdfast_hold_seconds", Type::histogram,
                              "From the grant of a hold to its release or loss.", Buckets<kHoldBounds>::bounds());
  MetricFamily lost = family("holdfast_lost", Type::counter, "Holds that were lost, by the reason.");
  for (const auto& [labels, counts] : all()) {
    for (std::size_t i = 0; i < kResults; ++i) {
      Metric& wait = waits.metrics.emplace_back(Metric{with(labels, "result", kResultNames[i])});
      counts->waits[i].read(wait);
    }
    counts->holds.read(holds.metrics.emplace_back(Metric{labels}));
    for (const LossReason reason : kLossReasonsAll) {
      const auto count = counts->lost[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
      lost.metrics.push_back({with(labels, "reason", to_string(reason)), static_cast<double>(count)});
    }
  }
  MetricFamily commands = family("holdfast_command_seconds", Type::histogram,
                                 "From the send of a command to its reply.", Buckets<kCommandBounds>::bounds());
  for (std::size_t i = 0; i < redis::kOperations; ++i) {
    const char* const name = redis::to_string(static_cast<redis::Operation>(i));
    commands_[i].read(commands.metrics.emplace_back(Metric{{{"operation", name}}}));
  }
  MetricFamily lateness =
      family("holdfast_renewal_lateness_seconds", Type::histogram,
             "How long after its planned time a renewal was sent.", Buckets<kLatenessBounds>::bounds());
  lateness_.read(lateness.metrics.emplace_back());
  MetricFamily overflow =
      family("holdfast_label_overflow", Type::counter, "Handles of locks that found no room among the classes.");
  overflow.metrics.emplace_back().value = static_cast<double>(overflows_.load(std::memory_order_relaxed));
  for (MetricFamily* each : {&waits, &holds, &commands, &lateness, &lost, &overflow}) to.push_back(std::move(*each));
}

// ---- counters ----

Counters Reporter::snapshot() const {
  Counters out;
  for (const Counted& each : kCounted) out.*each.which = count(each.which);
  return out;
}

Metrics Reporter::metrics(std::size_t holds, std::optional<base::Duration> lowest_validity,
                          const std::vector<std::pair<std::string, bool>>& links) const {
  using Type = MetricFamily::Type;
  Metrics out;
  meter.read(out.families);
  const auto add = [&out](Type type, const char* name, const char* help, double value) {
    out.families.push_back({.name = name, .type = type, .help = help, .metrics = {{.value = value}}});
  };
  for (const Counted& each : kCounted) {
    if (each.family != nullptr) add(Type::counter, each.family, each.help, static_cast<double>(count(each.which)));
  }
  add(Type::gauge, "holdfast_holds", "Holds that stand.", static_cast<double>(holds));
  add(Type::gauge, "holdfast_waiters", "Calls that wait for a lock.", static_cast<double>(count(&Counters::waiting)));
  const std::optional<base::TimePoint> oldest = waits.oldest();
  add(Type::gauge, "holdfast_oldest_wait_seconds", "How long the call that waits longest has waited; 0 if none does.",
      oldest ? base::in_seconds(base::Clock::now() - *oldest) : 0.0);
  add(Type::gauge, "holdfast_lowest_validity_seconds",
      "The least that any hold is certainly valid for; +Inf if there is none.",
      lowest_validity ? base::in_seconds(*lowest_validity) : std::numeric_limits<double>::infinity());
  MetricFamily connected{.name = "holdfast_connected", .help = "Whether there is a connection to this server."};
  for (const auto& [node, is] : links) connected.metrics.push_back({{{"node", node}}, is ? 1.0 : 0.0});
  out.families.push_back(std::move(connected));
  add(Type::info, "holdfast_build", "What this is.", 1);
  out.families.back().metrics.front().labels = {{"version", HOLDFAST_VERSION_STRING}};
  return out;
}

}  // namespace holdfast::engine
