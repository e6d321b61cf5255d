// SPDX-License-Identifier: Apache-2.0
// The metrics of a client for prometheus-cpp, which must be installed (Debian: prometheus-cpp-dev). Link
// holdfast::prometheus, or holdfast::holdfast and the part of prometheus-cpp that you use.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/observer.hpp>

namespace holdfast {

/// Something to register with an Exposer or a Gateway:
/// `auto metrics = std::make_shared<PrometheusMetrics>([&] { return client.metrics(); });`
/// `exposer.RegisterCollectable(metrics);`
/// The collector calls the function on its own thread. The names and labels are those of Metrics::write_prometheus().
class PrometheusMetrics final : public ::prometheus::Collectable {
 public:
  explicit PrometheusMetrics(std::function<Metrics()> source) : source_(std::move(source)) {}

  std::vector<::prometheus::MetricFamily> Collect() const override {
    std::vector<::prometheus::MetricFamily> out;
    for (const MetricFamily& family : source_().families) out.push_back(converted(family));
    return out;
  }

 private:
  static ::prometheus::MetricFamily converted(const MetricFamily& family) {
    using Type = MetricFamily::Type;
    ::prometheus::MetricFamily out;
    out.name = family.name;
    out.help = family.help;
    out.type = ::prometheus::MetricType::Gauge;
    if (family.type == Type::counter) {
      out.name += "_total";
      out.type = ::prometheus::MetricType::Counter;
    } else if (family.type == Type::info) {
      out.name += "_info";
    } else if (family.type == Type::histogram) {
      out.type = ::prometheus::MetricType::Histogram;
    }
    for (const Metric& metric : family.metrics) out.metric.push_back(converted(family, metric));
    return out;
  }

  static ::prometheus::ClientMetric converted(const MetricFamily& family, const Metric& metric) {
    ::prometheus::ClientMetric out;
    for (const MetricLabel& label : metric.labels) out.label.push_back({label.name, label.value});
    switch (family.type) {
      case MetricFamily::Type::counter:
        out.counter.value = metric.value;
        break;
      case MetricFamily::Type::gauge:
      case MetricFamily::Type::info:
        out.gauge.value = metric.value;
        break;
      case MetricFamily::Type::histogram:
        out.histogram.sample_sum = metric.sum;
        for (std::size_t i = 0; i < metric.buckets.size(); ++i) {
          out.histogram.sample_count += metric.buckets[i];
          const bool above_all = i >= family.bounds.size();
          out.histogram.bucket.push_back(
              {out.histogram.sample_count, above_all ? std::numeric_limits<double>::infinity() : family.bounds[i]});
        }
        break;
    }
    return out;
  }

  const std::function<Metrics()> source_;
};

}  // namespace holdfast
