// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ostream>

#include <holdfast/observer.hpp>

namespace holdfast {
namespace {

enum class Format { openmetrics, prometheus };

constexpr std::string_view kSeconds = "_seconds";

void write_number(std::ostream& out, double number) {
  if (std::isinf(number)) {
    out << (number > 0 ? "+Inf" : "-Inf");
    return;
  }
  std::array<char, 32> text{};
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), number);
  out << std::string_view(text.data(), end.ptr);
}

/// A bound in the form that label comparisons expect: 0.0001, never 1e-04; in OpenMetrics 1.0, not 1.
void write_bound(std::ostream& out, double bound, Format format) {
  std::array<char, 400> text{};
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), bound, std::chars_format::fixed);
  const std::string_view digits(text.data(), end.ptr);
  out << digits;
  if (format == Format::openmetrics && digits.find('.') == std::string_view::npos) out << ".0";
}

void write_escaped(std::ostream& out, std::string_view text, bool quotes) {
  for (const char each : text) {
    if (each == '\n') {
      out << "\\n";
    } else if (each == '\\' || (quotes && each == '"')) {
      out << '\\' << each;
    } else {
      out << each;
    }
  }
}

/// Writes the opening brace and the labels, if there are any. True: it did, and the brace is still open.
bool open_labels(std::ostream& out, const std::vector<MetricLabel>& labels) {
  const char* before = "{";
  for (const MetricLabel& label : labels) {
    out << before << label.name << "=\"";
    write_escaped(out, label.value, true);
    out << '"';
    before = ",";
  }
  return !labels.empty();
}

void write_labels(std::ostream& out, const std::vector<MetricLabel>& labels) {
  if (open_labels(out, labels)) out << '}';
}

void write_histogram(std::ostream& out, const MetricFamily& family, const Metric& metric, Format format) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < metric.buckets.size(); ++i) {
    count += metric.buckets[i];
    out << family.name << "_bucket";
    out << (open_labels(out, metric.labels) ? "," : "{") << "le=\"";
    if (i < family.bounds.size()) {
      write_bound(out, family.bounds[i], format);
    } else {
      out << "+Inf";
    }
    out << "\"} " << count << '\n';
  }
  out << family.name << "_count";
  write_labels(out, metric.labels);
  out << ' ' << count << '\n' << family.name << "_sum";
  write_labels(out, metric.labels);
  out << ' ';
  write_number(out, metric.sum);
  out << '\n';
}

std::string_view suffix(MetricFamily::Type type) {
  switch (type) {
    case MetricFamily::Type::counter:
      return "_total";
    case MetricFamily::Type::info:
      return "_info";
    case MetricFamily::Type::gauge:
    case MetricFamily::Type::histogram:
      break;
  }
  return "";
}

std::string_view type_name(MetricFamily::Type type, Format format) {
  switch (type) {
    case MetricFamily::Type::counter:
      return "counter";
    case MetricFamily::Type::histogram:
      return "histogram";
    case MetricFamily::Type::info:
      return format == Format::openmetrics ? "info" : "gauge";  // the older format has no such type
    case MetricFamily::Type::gauge:
      break;
  }
  return "gauge";
}

void write_family(std::ostream& out, const MetricFamily& family, Format format) {
  const std::string_view ending = suffix(family.type);
  // The older format describes the written name, OpenMetrics the family.
  const std::string described = family.name + std::string(format == Format::prometheus ? ending : "");
  out << "# HELP " << described << ' ';
  write_escaped(out, family.help, format == Format::openmetrics);
  out << "\n# TYPE " << described << ' ' << type_name(family.type, format) << '\n';
  if (format == Format::openmetrics && family.name.ends_with(kSeconds)) out << "# UNIT " << described << " seconds\n";
  for (const Metric& metric : family.metrics) {
    if (family.type == MetricFamily::Type::histogram) {
      write_histogram(out, family, metric, format);
      continue;
    }
    out << family.name << ending;
    write_labels(out, metric.labels);
    out << ' ';
    write_number(out, metric.value);
    out << '\n';
  }
}

// ---- classes of names ----

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool in_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr std::size_t kLongHex = 8;  // words of so many letters from a to f are rare

bool is_uuid(std::string_view text) {
  constexpr std::size_t kLength = 36;
  if (text.size() < kLength || (text.size() > kLength && in_word(text[kLength]))) return false;
  for (std::size_t i = 0; i < kLength; ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_number_in_hex(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
  return std::ranges::all_of(word, is_hex) && (word.size() >= kLongHex || std::ranges::any_of(word, is_digit));
}

void add_word(std::string& to, std::string_view word) {
  if (is_number_in_hex(word)) {
    to += '*';
    return;
  }
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (!is_digit(word[i])) {
      to += word[i];
    } else if (i == 0 || !is_digit(word[i - 1])) {
      to += '*';
    }
  }
}

}  // namespace

const MetricFamily* Metrics::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(families, name, &MetricFamily::name);
  return found == families.end() ? nullptr : &*found;
}

void Metrics::write_openmetrics(std::ostream& out) const {
  for (const MetricFamily& family : families) write_family(out, family, Format::openmetrics);
  out << "# EOF\n";
}

void Metrics::write_prometheus(std::ostream& out) const {
  for (const MetricFamily& family : families) write_family(out, family, Format::prometheus);
}

std::string lock_class(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  while (!name.empty()) {
    if (is_uuid(name)) {
      out += '*';
      name.remove_prefix(36);
      continue;
    }
    const auto end = static_cast<std::size_t>(std::ranges::find_if_not(name, in_word) - name.begin());
    if (end == 0) {
      out += name.front();
      name.remove_prefix(1);
      continue;
    }
    add_word(out, name.substr(0, end));
    name.remove_prefix(end);
  }
  return out;
}

}  // namespace holdfast
