// What a client has measured, for Prometheus and similar systems: a plain value, and its text.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/export.hpp>

namespace holdfast {

/// What distinguishes the metrics of a family: `result="granted"`.
struct MetricLabel {
  std::string name;
  std::string value;  ///< Any UTF-8; it is escaped when it is written.
};

/// One set of labels, and the values measured for it.
struct Metric {
  std::vector<MetricLabel> labels{};
  double value = 0;  ///< Of a counter, a gauge or an info (1).
  /// Of a histogram: for each bound of the family, how many values were up to it and above the previous bound; then one
  /// more for values above all bounds. Their sum is the count.
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

/// A class for a lock's name, for Config::lock_class: the parts that vary become `*`. These are each UUID, each word of
/// hexadecimal digits that contains one of 0 to 9 or has eight digits or more (with or without `0x`), and in other
/// words each run of decimal digits: `order:4711` is in `order:*`, `invoice-2026-08.pdf` in `invoice-*-*.pdf`,
/// `job/9f1c` in `job/*`.
HOLDFAST_EXPORT std::string lock_class(std::string_view name);

}  // namespace holdfast
