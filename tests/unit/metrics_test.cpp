// SPDX-License-Identifier: Apache-2.0
// What is measured, and how it is written.
#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

#include "lock/runtime/reporter.hpp"

namespace holdfast::metrics_test {
namespace {

using namespace std::chrono_literals;
using engine::LockClass;
using engine::Meter;
using engine::Waits;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

Metrics read(const Meter& meter) {
  Metrics metrics;
  meter.read(metrics.families);
  return metrics;
}

std::string openmetrics(const Metrics& metrics) {
  std::ostringstream out;
  metrics.write_openmetrics(out);
  return out.str();
}

std::string prometheus(const Metrics& metrics) {
  std::ostringstream out;
  metrics.write_prometheus(out);
  return out.str();
}

Metrics one(MetricFamily family) { return {.families = {std::move(family)}}; }

// ---- text ----

TEST(MetricsText, OfACounterEndsInTotal) {
  const Metrics metrics = one({.name = "holdfast_lost",
                               .type = MetricFamily::Type::counter,
                               .help = "Lost.",
                               .metrics = {{.labels = {{"reason", "taken"}}, .value = 3}}});
  EXPECT_EQ(
      openmetrics(metrics),
      "# HELP holdfast_lost Lost.\n# TYPE holdfast_lost counter\nholdfast_lost_total{reason=\"taken\"} 3\n# EOF\n");
  EXPECT_EQ(prometheus(metrics),
            "# HELP holdfast_lost_total Lost.\n# TYPE holdfast_lost_total counter\n"
            "holdfast_lost_total{reason=\"taken\"} 3\n");
}

TEST(MetricsText, OfAHistogramCounts) {
  const Metrics metrics = one({.name = "wait_seconds",
                               .type = MetricFamily::Type::histogram,
                               .help = "Waits.",
                               .bounds = {0.0001, 1},
                               .metrics = {{.labels = {{"result", "busy"}}, .buckets = {1, 2, 3}, .sum = 2.5}}});
  EXPECT_EQ(openmetrics(metrics),
            "# HELP wait_seconds Waits.\n# TYPE wait_seconds histogram\n# UNIT wait_seconds seconds\n"
            "wait_seconds_bucket{result=\"busy\",le=\"0.0001\"} 1\n"
            "wait_seconds_bucket{result=\"busy\",le=\"1.0\"} 3\n"
            "wait_seconds_bucket{result=\"busy\",le=\"+Inf\"} 6\n"
            "wait_seconds_count{result=\"busy\"} 6\nwait_seconds_sum{result=\"busy\"} 2.5\n# EOF\n");
  EXPECT_THAT(prometheus(metrics), HasSubstr("le=\"1\"} 3\n"));
}

TEST(MetricsText, OfAnInfoIsAGaugeInTheOlderFormat) {
  const Metrics metrics = one({.name = "b", .type = MetricFamily::Type::info, .help = "B.", .metrics = {{.value = 1}}});
  EXPECT_EQ(openmetrics(metrics), "# HELP b B.\n# TYPE b info\nb_info 1\n# EOF\n");
  EXPECT_EQ(prometheus(metrics), "# HELP b_info B.\n# TYPE b_info gauge\nb_info 1\n");
}

TEST(MetricsText, EscapesWhatALabelMayHold) {
  const Metrics metrics =
      one({.name = "g", .help = "a\nb \"c\"", .metrics = {{.labels = {{"lock", "a\"b\\c\nd"}}, .value = 0.5}}});
  EXPECT_THAT(openmetrics(metrics), HasSubstr("# HELP g a\\nb \\\"c\\\"\n"));
  EXPECT_THAT(openmetrics(metrics), HasSubstr("g{lock=\"a\\\"b\\\\c\\nd\"} 0.5\n"));
  EXPECT_THAT(prometheus(metrics), HasSubstr("# HELP g a\\nb \"c\"\n"));
}

TEST(MetricsText, HasAWordForInfinity) {
  const Metrics metrics = one({.name = "g", .metrics = {{.value = std::numeric_limits<double>::infinity()}}});
  EXPECT_THAT(openmetrics(metrics), HasSubstr("\ng +Inf\n"));
}

// ---- classes ----

TEST(LockClassOfAName, HasAStarForWhatDiffers) {
  EXPECT_EQ(lock_class("orders"), "orders");
  EXPECT_EQ(lock_class("order:4711"), "order:*");
  EXPECT_EQ(lock_class("invoice-2026-08.pdf"), "invoice-*-*.pdf");
  EXPECT_EQ(lock_class("job/9f1c"), "job/*");
  EXPECT_EQ(lock_class("step2of17"), "step*of*");
  EXPECT_EQ(lock_class("user:550e8400-e29b-41d4-abcd-446655440000:cart"), "user:*:cart");
  EXPECT_EQ(lock_class("blob deadbeef 0xFACADE12"), "blob * *");
  EXPECT_EQ(lock_class("a cafe, added"), "a cafe, added");
  EXPECT_EQ(lock_class(""), "");
}

TEST(LockClassOfAName, LeavesOtherBytesAsTheyAre) { EXPECT_EQ(lock_class("größe\xff:7"), "größe\xff:*"); }

class ClassesOfLocks : public testing::Test {
 protected:
  static std::string itself(std::string_view name) { return std::string(name); }
  Meter meter_{itself};
};

TEST_F(ClassesOfLocks, AreTheSameForTheSameLabel) {
  const LockClass orders = meter_.class_of("orders");
  EXPECT_NE(orders, 0);
  EXPECT_EQ(meter_.class_of("orders"), orders);
  EXPECT_NE(meter_.class_of("invoices"), orders);
}

TEST_F(ClassesOfLocks, AreFiftyAndThenOneForTheOthers) {
  for (int i = 0; i < 50; ++i) EXPECT_NE(meter_.class_of("lock " + std::to_string(i)), 0);
  const LockClass other = meter_.class_of("one too many");
  EXPECT_EQ(other, 0);
  EXPECT_NE(meter_.class_of("lock 49"), 0);
  meter_.on_hold_end(other, 1s);
  const Metrics metrics = read(meter_);
  EXPECT_EQ(metrics.find("holdfast_label_overflow")->metrics.front().value, 1);
  EXPECT_EQ(metrics.find("holdfast_hold_seconds")->metrics.size(), 51U);
  EXPECT_THAT(prometheus(metrics), HasSubstr("holdfast_hold_seconds_count{lock=\"other\"} 1\n"));
}

TEST_F(ClassesOfLocks, AreWrittenAsTextThatCanBeRead) {
  meter_.class_of(
      "gr\xc3\xb6\xc3\x9f"
      "e");
  meter_.class_of("broken \xff\xc3");
  meter_.class_of(std::string(500, 'x'));
  const std::string text = prometheus(read(meter_));
  EXPECT_THAT(text, HasSubstr("{lock=\"gr\xc3\xb6\xc3\x9f"
                              "e\"}"));
  EXPECT_THAT(text, HasSubstr("{lock=\"broken ??\"}"));
  EXPECT_THAT(text, HasSubstr("{lock=\"" + std::string(128, 'x') + "\"}"));
}

TEST(MeterOfLocks, SurvivesAFunctionThatThrows) {
  Meter meter([](std::string_view) -> std::string { throw std::runtime_error("no"); });
  EXPECT_EQ(meter.class_of("orders"), 0);
  meter.on_acquire(0, Meter::Result::granted, 1ms);
  EXPECT_THAT(prometheus(read(meter)),
              HasSubstr("holdfast_acquire_wait_seconds_count{lock=\"other\",result=\"granted\"} 1\n"));
}

TEST(MeterOfLocks, HasNoLabelUnlessItIsAskedFor) {
  Meter meter(nullptr);
  EXPECT_EQ(meter.class_of("orders"), 0);
  EXPECT_THAT(prometheus(read(meter)), Not(HasSubstr("lock=")));
}

TEST(MeterOfLocks, ShowsEverySeriesFromTheStart) {
  const std::string text = prometheus(read(Meter(nullptr)));
  for (const char* result : {"granted", "busy", "timed_out", "cancelled", "crowded", "error"}) {
    EXPECT_THAT(text, HasSubstr(std::string("holdfast_acquire_wait_seconds_count{result=\"") + result + "\"} 0\n"));
  }
  for (const char* reason : {"expired", "taken", "max_hold", "closed", "forked"}) {
    EXPECT_THAT(text, HasSubstr(std::string("holdfast_lost_total{reason=\"") + reason + "\"} 0\n"));
  }
  for (const char* operation : {"acquire", "release", "renew", "confirm", "other"}) {
    EXPECT_THAT(text, HasSubstr(std::string("holdfast_command_seconds_count{operation=\"") + operation + "\"} 0\n"));
  }
  EXPECT_THAT(text, HasSubstr("\nholdfast_hold_seconds_count 0\n"));
  EXPECT_THAT(text, HasSubstr("\nholdfast_renewal_lateness_seconds_count 0\n"));
  EXPECT_THAT(text, HasSubstr("\nholdfast_label_overflow_total 0\n"));
}

/// By family: its sets of labels, and the lines of a scrape.
std::map<std::string, std::pair<std::size_t, std::size_t>> series_of(const Meter& meter) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> found;
  for (const MetricFamily& family : read(meter).families) {
    const std::string text = prometheus(one(family));
    const auto lines = std::ranges::count(text, '\n');
    const auto comments = std::ranges::count(text, '#');
    found[family.name] = {family.metrics.size(), static_cast<std::size_t>(lines - comments)};
  }
  return found;
}

TEST(MeterOfLocks, HasAsManySeriesAsThePageSays) {  // docs/operations.md
  EXPECT_THAT(series_of(Meter(nullptr)),
              ElementsAre(Pair("holdfast_acquire_wait_seconds", Pair(6, 6 * 16)),
                          Pair("holdfast_command_seconds", Pair(5, 5 * 14)), Pair("holdfast_hold_seconds", Pair(1, 17)),
                          Pair("holdfast_label_overflow", Pair(1, 1)), Pair("holdfast_lost", Pair(5, 5)),
                          Pair("holdfast_renewal_lateness_seconds", Pair(1, 13))));
  Meter meter([](std::string_view name) { return std::string(name); });
  for (int i = 0; i < 1000; ++i) meter.class_of("lock " + std::to_string(i));
  EXPECT_THAT(
      series_of(meter),
      ElementsAre(Pair("holdfast_acquire_wait_seconds", Pair(51 * 6, 51 * 6 * 16)),
                  Pair("holdfast_command_seconds", Pair(5, 5 * 14)), Pair("holdfast_hold_seconds", Pair(51, 51 * 17)),
                  Pair("holdfast_label_overflow", Pair(1, 1)), Pair("holdfast_lost", Pair(51 * 5, 51 * 5)),
                  Pair("holdfast_renewal_lateness_seconds", Pair(1, 13))));
}

TEST(MeterOfLocks, PutsEachDurationIntoItsBucket) {
  Meter meter(nullptr);
  for (const base::Duration waited : {base::Duration(-1s), base::Duration(100us), base::Duration(100001ns),
                                      base::Duration(60s), base::Duration(61s)}) {
    meter.on_acquire(0, Meter::Result::granted, waited);
  }
  const Metrics metrics = read(meter);
  const MetricFamily& family = *metrics.find("holdfast_acquire_wait_seconds");
  ASSERT_EQ(family.bounds.size(), 13U);
  const Metric& granted = family.metrics.front();
  EXPECT_THAT(granted.buckets, testing::ElementsAre(2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1));
  EXPECT_NEAR(granted.sum, 121.0002, 1e-4);
}

TEST(MeterOfLocks, LosesNothingBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20'000;
  Meter meter([](std::string_view name) { return std::string(name); });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&meter] {
        for (int k = 0; k < kEach; ++k) {
          meter.on_acquire(meter.class_of("lock " + std::to_string(k % 3)), Meter::Result::granted, 1us);
        }
      });
    }
  }
  std::uint64_t sum = 0;
  const Metrics metrics = read(meter);
  for (const Metric& metric : metrics.find("holdfast_acquire_wait_seconds")->metrics) sum += metric.buckets.front();
  EXPECT_EQ(sum, static_cast<std::uint64_t>(kThreads) * kEach);
}

// ---- waits ----

TEST(WaitsOfAClient, KnowTheOldest) {
  const base::TimePoint start{};
  Waits waits;
  EXPECT_EQ(waits.oldest(), std::nullopt);
  Waits::Entry first;
  waits.begin(first, start + 1s);
  {
    Waits::Entry second;
    waits.begin(second, start + 2s);
    EXPECT_EQ(waits.oldest(), start + 1s);
    waits.end(first);
    EXPECT_EQ(waits.oldest(), start + 2s);
  }
  EXPECT_EQ(waits.oldest(), std::nullopt);
}

}  // namespace
}  // namespace holdfast::metrics_test
