// SPDX-License-Identifier: Apache-2.0
// The adapters for OpenTelemetry beside its SDK, where that is installed.
#include <gtest/gtest.h>

#ifdef HOLDFAST_OPENTELEMETRY
#include <map>
#include <opentelemetry/exporters/memory/in_memory_span_exporter.h>
#include <opentelemetry/sdk/metrics/meter_provider.h>
#include <opentelemetry/sdk/metrics/metric_reader.h>
#include <opentelemetry/sdk/trace/simple_processor.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <stdexcept>

#include <holdfast/contrib/opentelemetry.hpp>

namespace holdfast::opentelemetry_test {
namespace {

using namespace std::chrono_literals;
namespace nostd = ::opentelemetry::nostd;
namespace sdk = ::opentelemetry::sdk;

std::string text_of(const sdk::common::OwnedAttributeValue& value) { return nostd::get<std::string>(value); }

class Reader final : public sdk::metrics::MetricReader {
 public:
  sdk::metrics::AggregationTemporality GetAggregationTemporality(sdk::metrics::InstrumentType) const noexcept override {
    return sdk::metrics::AggregationTemporality::kCumulative;
  }

 private:
  bool OnForceFlush(std::chrono::microseconds) noexcept override { return true; }
  bool OnShutDown(std::chrono::microseconds) noexcept override { return true; }
};

// OpenTelemetryMetrics: a meter of the program's own provider, and where the values come from.
class Collected {
 public:
  explicit Collected(std::function<Metrics()> source)
      : metrics_(std::in_place, provider_.GetMeter("holdfast"), std::move(source)) {
    provider_.AddMetricReader(reader_);
  }

  /// What a collection finds, as `name{label=value} unit`.
  std::map<std::string, double> look() {
    std::map<std::string, double> found;
    reader_->Collect([&](sdk::metrics::ResourceMetrics& data) {
      for (const auto& scope : data.scope_metric_data_) {
        for (const sdk::metrics::MetricData& metric : scope.metric_data_) add(metric, found);
      }
      return true;
    });
    return found;
  }
  void end() { metrics_.reset(); }

 private:
  static void add(const sdk::metrics::MetricData& metric, std::map<std::string, double>& out) {
    for (const auto& point : metric.point_data_attr_) {
      std::string name = metric.instrument_descriptor.name_;
      for (const auto& [label, value] : point.attributes) name += "{" + label + "=" + text_of(value) + "}";
      if (!metric.instrument_descriptor.unit_.empty()) name += " " + metric.instrument_descriptor.unit_;
      const auto* const sum = nostd::get_if<sdk::metrics::SumPointData>(&point.point_data);
      const auto* const last = nostd::get_if<sdk::metrics::LastValuePointData>(&point.point_data);
      out[name] = nostd::get<double>(sum != nullptr ? sum->value_ : last->value_);
    }
  }

  sdk::metrics::MeterProvider provider_;
  std::shared_ptr<Reader> reader_ = std::make_shared<Reader>();
  std::optional<OpenTelemetryMetrics> metrics_;
};

using Found = std::map<std::string, double>;

TEST(OpenTelemetryAdapter, TellsEachSortByItsNameAndUnit) {
  Collected collected([] {
    return Metrics{.families = {{.name = "holdfast_lost",
                                 .type = MetricFamily::Type::counter,
                                 .metrics = {{.labels = {{"reason", "taken"}}, .value = 3}}},
                                {.name = "holdfast_oldest_wait_seconds", .metrics = {{.value = 0.5}}},
                                {.name = "holdfast_lowest_validity_seconds",
                                 .metrics = {{.value = std::numeric_limits<double>::infinity()}}},
                                {.name = "holdfast_hold_seconds",
                                 .type = MetricFamily::Type::histogram,
                                 .bounds = {0.1, 1},
                                 .metrics = {{.buckets = {1, 2, 3}, .sum = 2.5}}}}};
  });
  EXPECT_EQ(collected.look(), (Found{{"holdfast.lost{reason=taken}", 3},
                                     {"holdfast.oldest_wait s", 0.5},
                                     {"holdfast.hold.count", 6},
                                     {"holdfast.hold.sum s", 2.5},
                                     {"holdfast.hold.bucket{le=0.1}", 1},
                                     {"holdfast.hold.bucket{le=1}", 3},
                                     {"holdfast.hold.bucket{le=+Inf}", 6}}));
}

TEST(OpenTelemetryAdapter, AsksOnceForEachCollectionAndNotAfterItsEnd) {
  int asked = 0;
  bool throws = false;
  Collected collected([&] {
    ++asked;
    if (throws) throw std::runtime_error("no");
    const double value = asked;
    return Metrics{.families = {{.name = "holdfast_holds", .metrics = {{.value = value}}},
                                {.name = "holdfast_waiters", .metrics = {{.value = value}}}}};
  });
  EXPECT_EQ(collected.look(), (Found{{"holdfast.holds", 2}, {"holdfast.waiters", 2}}));
  EXPECT_EQ(collected.look(), (Found{{"holdfast.holds", 3}, {"holdfast.waiters", 3}}));
  throws = true;
  collected.look();
  throws = false;
  asked = 0;
  EXPECT_EQ(collected.look(), (Found{{"holdfast.holds", 1}, {"holdfast.waiters", 1}}));
  collected.end();
  collected.look();
  EXPECT_EQ(asked, 1);
}

// OpenTelemetrySpans: as Config::observer; here it is told what happens.
class Spans : public testing::Test {
 protected:
  Spans() {
    auto exporter = std::make_unique<::opentelemetry::exporter::memory::InMemorySpanExporter>();
    data_ = exporter->GetData();
    provider_.emplace(std::make_unique<sdk::trace::SimpleSpanProcessor>(std::move(exporter)));
    spans = std::make_shared<OpenTelemetrySpans>(provider_->GetTracer("holdfast"));
  }
  std::unique_ptr<sdk::trace::SpanData> only() {
    auto found = data_->GetSpans();
    EXPECT_EQ(found.size(), 1U);
    return std::move(found.front());
  }
  static std::vector<std::string> events(const sdk::trace::SpanData& span) {
    std::vector<std::string> names;
    for (const auto& event : span.GetEvents()) names.push_back(event.GetName());
    return names;
  }
  static std::string attribute(const sdk::trace::SpanData& span, const std::string& name) {
    return text_of(span.GetAttributes().at(name));
  }

  std::shared_ptr<OpenTelemetrySpans> spans;

 private:
  std::shared_ptr<::opentelemetry::exporter::memory::InMemorySpanData> data_;
  std::optional<sdk::trace::TracerProvider> provider_;
};

TEST_F(Spans, OfAGrantThatWaited) {
  spans->on_granted(
      {.name = "order:4711", .owner = "me:1", .waited = 300ms, .contended = true, .waiting = 200ms, .woken = 10ms});
  const auto span = only();
  EXPECT_EQ(span->GetName(), "lock acquire");
  EXPECT_EQ(attribute(*span, "holdfast.lock"), "order:4711");
  EXPECT_EQ(attribute(*span, "holdfast.owner"), "me:1");
  EXPECT_EQ(attribute(*span, "holdfast.outcome"), "granted");
  EXPECT_EQ(events(*span), (std::vector<std::string>{"contended", "woken", "granted"}));
  EXPECT_GE(span->GetDuration(), 300ms);
  const auto at = [&](std::size_t i) { return span->GetEvents()[i].GetTimestamp().time_since_epoch(); };
  EXPECT_EQ(at(0) - span->GetStartTime().time_since_epoch(), 100ms);
  EXPECT_EQ(at(2) - at(1), 10ms);
}

TEST_F(Spans, OfAGrantAtOnce) {
  spans->on_granted({.name = "n", .owner = "me:1"});
  EXPECT_EQ(events(*only()), (std::vector<std::string>{"granted"}));
}

TEST_F(Spans, OfAWaitInVain) {
  spans->on_wait_ended({.name = "n", .waiter = "me:1", .outcome = WaitOutcome::granted, .cause = {}});
  spans->on_wait_ended(
      {.name = "n", .waiter = "me:2", .outcome = WaitOutcome::failed, .cause = "no server", .waited = 1s});
  const auto span = only();
  EXPECT_EQ(attribute(*span, "holdfast.outcome"), "failed");
  EXPECT_EQ(events(*span), (std::vector<std::string>{"contended"}));
  EXPECT_EQ(span->GetStatus(), ::opentelemetry::trace::StatusCode::kError);
  EXPECT_EQ(span->GetDescription(), "no server");
  EXPECT_GE(span->GetDuration(), 1s);
}

}  // namespace
}  // namespace holdfast::opentelemetry_test
#else
TEST(OpenTelemetryAdapter, IsTried) {
  GTEST_SKIP() << "there is no SDK of OpenTelemetry here; Debian 13 has it: opentelemetry-cpp-dev";
}
#endif
