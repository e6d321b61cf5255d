// SPDX-License-Identifier: Apache-2.0
// The metrics and spans of a client for OpenTelemetry. Needs its API headers (Debian 13: opentelemetry-cpp-dev). Link
// holdfast::opentelemetry or holdfast::holdfast, beside the SDK that the program has set up.
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <opentelemetry/common/attribute_value.h>
#include <opentelemetry/common/timestamp.h>
#include <opentelemetry/metrics/async_instruments.h>
#include <opentelemetry/metrics/meter.h>
#include <opentelemetry/metrics/observer_result.h>
#include <opentelemetry/nostd/shared_ptr.h>
#include <opentelemetry/nostd/string_view.h>
#include <opentelemetry/nostd/variant.h>
#include <opentelemetry/trace/span.h>
#include <opentelemetry/trace/span_startoptions.h>
#include <opentelemetry/trace/tracer.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/observer.hpp>

namespace holdfast {

/// Registers the metrics of a client with a meter, as observable instruments:
/// `OpenTelemetryMetrics metrics(provider->GetMeter("holdfast"), [&] { return client.metrics(); });`
/// Each family of Metrics keeps its name, but with a dot after `holdfast` and without its unit: `holdfast_lost` is the
/// counter `holdfast.lost`, and `holdfast_oldest_wait_seconds` the gauge `holdfast.oldest_wait` in `s`. OpenTelemetry
/// has no observable histogram, so each becomes three counters: `.count`, `.sum`, and `.bucket`, with `le` as in
/// Prometheus. Infinite values are not reported.
///
/// The collector calls the function on its own thread, once for all instruments. What the function refers to must live
/// until this object is destroyed; its destructor waits for a running collection. If the function throws, that
/// collection gets no values. The constructor makes the first call, and throws what the function throws; families
/// missing from it are never reported. No wire cost.
class OpenTelemetryMetrics {
 public:
  using Meter = ::opentelemetry::nostd::shared_ptr<::opentelemetry::metrics::Meter>;

  OpenTelemetryMetrics(const Meter& meter, std::function<Metrics()> source)
      : source_(std::move(source)), snapshot_(source_()) {
    for (const MetricFamily& family : snapshot_.families) {
      if (family.type != MetricFamily::Type::histogram) {
        add(*meter, family, Part::value, "", true);
        continue;
      }
      add(*meter, family, Part::count, ".count", false);
      add(*meter, family, Part::sum, ".sum", true);
      add(*meter, family, Part::bucket, ".bucket", false);
    }
    for (const auto& each : series_) each->instrument->AddCallback(observe, each.get());
  }
  ~OpenTelemetryMetrics() {
    for (const auto& each : series_) each->instrument->RemoveCallback(observe, each.get());
  }
  OpenTelemetryMetrics(const OpenTelemetryMetrics&) = delete;
  OpenTelemetryMetrics& operator=(const OpenTelemetryMetrics&) = delete;

 private:
  using Values = ::opentelemetry::metrics::ObserverResultT<double>;
  using Attributes =
      std::vector<std::pair<::opentelemetry::nostd::string_view, ::opentelemetry::common::AttributeValue>>;

  enum class Part : std::uint8_t { value, count, sum, bucket };
  /// What one instrument reports.
  struct Series {
    OpenTelemetryMetrics* owner;
    std::string family;
    Part part;
    ::opentelemetry::nostd::shared_ptr<::opentelemetry::metrics::ObservableInstrument> instrument;
    std::uint64_t told = 0;  ///< The number of the snapshot that it last reported.
  };

  static ::opentelemetry::nostd::string_view view(std::string_view text) { return {text.data(), text.size()}; }

  void add(::opentelemetry::metrics::Meter& meter, const MetricFamily& family, Part part, const char* suffix,
           bool has_unit) {
    constexpr std::string_view kSeconds = "_seconds";
    std::string name = family.name;
    const bool seconds = name.ends_with(kSeconds);
    if (seconds) name.resize(name.size() - kSeconds.size());
    if (const std::size_t first = name.find('_'); first != std::string::npos) name[first] = '.';
    name += suffix;
    const char* const unit = seconds && has_unit ? "s" : "";
    const bool counts = part != Part::value || family.type == MetricFamily::Type::counter;
    series_.push_back(std::make_unique<Series>(
        Series{this, family.name, part,
               counts ? meter.CreateDoubleObservableCounter(view(name), view(family.help), unit)
                      : meter.CreateDoubleObservableGauge(view(name), view(family.help), unit)}));
  }

  static void observe(::opentelemetry::metrics::ObserverResult result, void* state) {
    namespace nostd = ::opentelemetry::nostd;
    Series& series = *static_cast<Series*>(state);
    try {
      if (auto* values = nostd::get_if<nostd::shared_ptr<Values>>(&result)) series.owner->tell(series, **values);
    } catch (...) {
      // From the function, or out of memory: not reported this time.
    }
  }

  /// A second request for the same series means that a new collection has begun.
  void tell(Series& series, Values& out) {
    const std::lock_guard guard(mutex_);
    if (series.told == number_) {
      series.told = ++number_;
      snapshot_ = Metrics();
      snapshot_ = source_();
    }
    series.told = number_;
    const MetricFamily* const family = snapshot_.find(series.family);
    if (family == nullptr) return;
    for (const Metric& metric : family->metrics) {
      if (series.part == Part::bucket) {
        tell_buckets(*family, metric, out);
      } else {
        tell(series.part, metric, out);
      }
    }
  }

  static void tell(Part part, const Metric& metric, Values& out) {
    double value = part == Part::sum ? metric.sum : metric.value;
    if (part == Part::count) {
      for (const std::uint64_t in_bucket : metric.buckets) value += static_cast<double>(in_bucket);
    }
    if (std::isfinite(value)) out.Observe(value, attributes(metric));
  }

  static void tell_buckets(const MetricFamily& family, const Metric& metric, Values& out) {
    double below = 0;
    for (std::size_t i = 0; i < metric.buckets.size(); ++i) {
      below += static_cast<double>(metric.buckets[i]);
      std::array<char, 32> text{"+Inf"};
      std::string_view bound(text.data(), 4);
      if (i < family.bounds.size()) {
        const auto end = std::to_chars(text.data(), text.data() + text.size(), family.bounds[i]).ptr;
        bound = {text.data(), static_cast<std::size_t>(end - text.data())};
      }
      Attributes all = attributes(metric);
      all.emplace_back("le", view(bound));
      out.Observe(below, all);
    }
  }

  static Attributes attributes(const Metric& metric) {
    Attributes all;
    for (const MetricLabel& label : metric.labels) all.emplace_back(view(label.name), view(label.value));
    return all;
  }

  const std::function<Metrics()> source_;
  std::mutex mutex_;
  Metrics snapshot_;
  std::uint64_t number_ = 0;  ///< Of the snapshot. The first one is made by the constructor and not reported.
  std::vector<std::unique_ptr<Series>> series_;
};

/// An observer that makes a span `lock acquire` for each acquire that got its lock, or waited without getting it:
/// `config.observer = std::make_shared<OpenTelemetrySpans>(provider->GetTracer("holdfast"));`
/// It has the attributes `holdfast.lock` (the full name) and `holdfast.outcome` (`granted`, `timed_out`, `cancelled`,
/// `failed`), `holdfast.owner` if granted, and the events `contended`, `woken` and `granted` as far as they happened. A
/// failure has the status `Error`, with its cause. The span begins with the call, or with the wait if the lock was not
/// granted. It has no parent, since events do not know what the caller was doing: give your own span the attribute
/// `holdfast.owner` with Hold::owner(), and each can be found from the other.
///
/// Threads and dropped events: as Observer. Times are as late as the event. Derive from it to observe more, and call
/// the functions that you override. No wire cost.
class OpenTelemetrySpans : public Observer {
 public:
  using Tracer = ::opentelemetry::nostd::shared_ptr<::opentelemetry::trace::Tracer>;

  explicit OpenTelemetrySpans(Tracer tracer) : tracer_(std::move(tracer)) {}

  void on_granted(const GrantedEvent& event) override {
    const auto now = std::chrono::system_clock::now();
    const Span span = start(event.name, now, event.waited);
    span->SetAttribute("holdfast.owner", view(event.owner));
    span->SetAttribute("holdfast.outcome", "granted");
    if (event.contended) {
      span->AddEvent("contended", before(now, event.waiting.count() > 0 ? event.waiting : event.waited));
    }
    if (event.woken.count() > 0) span->AddEvent("woken", before(now, event.woken));
    span->AddEvent("granted", now);
    span->End();
  }

  void on_wait_ended(const WaitEndedEvent& event) override {
    if (event.outcome == WaitOutcome::granted) return;
    const auto now = std::chrono::system_clock::now();
    const Span span = start(event.name, now, event.waited);
    span->SetAttribute("holdfast.outcome", to_string(event.outcome));
    span->AddEvent("contended", before(now, event.waited));
    if (event.outcome == WaitOutcome::failed) {
      span->SetStatus(::opentelemetry::trace::StatusCode::kError, view(event.cause));
    }
    span->End();
  }

 private:
  using Span = ::opentelemetry::nostd::shared_ptr<::opentelemetry::trace::Span>;

  static ::opentelemetry::nostd::string_view view(std::string_view text) { return {text.data(), text.size()}; }

  /// In the clock's own ticks: some libraries' are longer than a nanosecond.
  static std::chrono::system_clock::time_point before(std::chrono::system_clock::time_point now,
                                                      std::chrono::nanoseconds ago) {
    return now - std::chrono::duration_cast<std::chrono::system_clock::duration>(ago);
  }

  Span start(const std::string& name, std::chrono::system_clock::time_point now, std::chrono::nanoseconds ago) const {
    ::opentelemetry::trace::StartSpanOptions options;
    options.kind = ::opentelemetry::trace::SpanKind::kClient;
    options.start_system_time = ::opentelemetry::common::SystemTimestamp(before(now, ago));
    options.start_steady_time = ::opentelemetry::common::SteadyTimestamp(std::chrono::steady_clock::now() - ago);
    Span span = tracer_->StartSpan("lock acquire", options);
    span->SetAttribute("holdfast.lock", view(name));
    return span;
  }

  const Tracer tracer_;
};

}  // namespace holdfast
