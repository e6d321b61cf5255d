// SPDX-License-Identifier: Apache-2.0
// The adapter for prometheus-cpp, where that is installed.
#include <gtest/gtest.h>

#if __has_include(<prometheus/collectable.h>)
#include <holdfast/contrib/prometheus.hpp>

namespace holdfast::prometheus_test {
namespace {

const ::prometheus::MetricFamily& only(const std::vector<::prometheus::MetricFamily>& families) {
  EXPECT_EQ(families.size(), 1U);
  return families.front();
}

// PrometheusMetrics: what an exposer of prometheus-cpp collects, from the metrics of a client or any others.
std::vector<::prometheus::MetricFamily> collected(const MetricFamily& family) {
  return PrometheusMetrics([&] { return Metrics{.families = {family}}; }).Collect();
}

TEST(PrometheusAdapter, TellsACounter) {
  const auto families = collected({.name = "holdfast_lost",
                                   .type = MetricFamily::Type::counter,
                                   .help = "Lost.",
                                   .metrics = {{.labels = {{"reason", "taken"}}, .value = 3}}});
  const auto& family = only(families);
  EXPECT_EQ(family.name, "holdfast_lost_total");
  EXPECT_EQ(family.help, "Lost.");
  EXPECT_EQ(family.type, ::prometheus::MetricType::Counter);
  ASSERT_EQ(family.metric.size(), 1U);
  EXPECT_EQ(family.metric.front().counter.value, 3);
  EXPECT_EQ(family.metric.front().label.front().name, "reason");
  EXPECT_EQ(family.metric.front().label.front().value, "taken");
}

TEST(PrometheusAdapter, TellsGaugesAndInfos) {
  const auto gauge = collected({.name = "g", .metrics = {{.value = 0.5}}});
  EXPECT_EQ(only(gauge).type, ::prometheus::MetricType::Gauge);
  EXPECT_EQ(only(gauge).metric.front().gauge.value, 0.5);
  const auto info = collected({.name = "b", .type = MetricFamily::Type::info, .metrics = {{.value = 1}}});
  EXPECT_EQ(only(info).name, "b_info");
  EXPECT_EQ(only(info).metric.front().gauge.value, 1);
}

TEST(PrometheusAdapter, TellsAHistogramThatCounts) {
  const auto families = collected({.name = "wait_seconds",
                                   .type = MetricFamily::Type::histogram,
                                   .bounds = {0.1, 1},
                                   .metrics = {{.buckets = {1, 2, 3}, .sum = 2.5}}});
  const auto& histogram = only(families).metric.front().histogram;
  EXPECT_EQ(histogram.sample_count, 6U);
  EXPECT_EQ(histogram.sample_sum, 2.5);
  ASSERT_EQ(histogram.bucket.size(), 3U);
  EXPECT_EQ(histogram.bucket[0].cumulative_count, 1U);
  EXPECT_EQ(histogram.bucket[1].cumulative_count, 3U);
  EXPECT_EQ(histogram.bucket[1].upper_bound, 1);
  EXPECT_EQ(histogram.bucket[2].cumulative_count, 6U);
  EXPECT_EQ(histogram.bucket[2].upper_bound, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace holdfast::prometheus_test
#endif
