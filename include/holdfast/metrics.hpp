// What a client has measured, for Prometheus and its like: a plain value, and its text.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/export.hpp>

namespace holdfast {

/// What tells the metrics of a family apart: `result="granted"`.
struct MetricLabel {
  std::string name;
  std::string value;  ///< Any UTF-8; it is escaped when it is written.
};

/// One set of labels, and what was measured of it.
struct Metric {
  std::vector<MetricLabel> labels{};
  double value = 0;  ///< Of a counter, a gauge or an info (1).
  /// Of a histogram: how many values were up to each bound of the family and above the bound before; at the end, one
  /// more: how many were above all of them. Their sum is the count.
  std::vector<std::uint64_t> buckets{};
  double sum = 0;  ///< Of a histogram: of all values.
};

/// Metrics of the same name.
struct MetricFamily {
  enum class Type : std::uint8_t { counter, gauge, histogram, info };
  std::string name;  ///< Without the `_total` of a counter and the `_info` of an info.
  Type type = Type::gauge;
  std::string help{};
  std::vector<double> bounds{};  ///< Of a histogram: growing.
  std::vector<Metric> metrics{};
};

/// A snapshot: Client::metrics(). A plain value; add families of your own to it if you like. The families of a client
/// are listed in docs/operations.md, and all of them are there from the beginning, with zeros.
struct HOLDFAST_EXPORT Metrics {
  std::vector<MetricFamily> families;

  /// The family of this name (`holdfast_lost`); null: there is none. Valid as long as `families` is not changed.
  const MetricFamily* find(std::string_view name) const noexcept;

  /// As text in the format OpenMetrics 1.0 (`application/openmetrics-text; version=1.0.0; charset=utf-8`).
  void write_openmetrics(std::ostream& out) const;
  /// As text in the older format of Prometheus (`text/plain; version=0.0.4; charset=utf-8`), which the textfile
  /// collector of node_exporter reads.
  void write_prometheus(std::ostream& out) const;
};

/// A class for a lock's name, for Config::lock_class: what differs from one thing to the next becomes `*`. That is each
/// UUID, each word of hexadecimal digits with at least one of 0 to 9 among them or of eight or more (with `0x` before
/// it or not), and in other words each run of decimal digits: `order:4711` is in `order:*`, `invoice-2026-08.pdf` in
/// `invoice-*-*.pdf`, `job/9f1c` in `job/*`.
HOLDFAST_EXPORT std::string lock_class(std::string_view name);

}  // namespace holdfast
