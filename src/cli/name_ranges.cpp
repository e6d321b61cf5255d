#include "cli/name_ranges.hpp"

#include <charconv>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/secrets.hpp"

namespace holdfast::cli {
namespace {

constexpr int kMost = 10'000;

/// `{0..7}` somewhere in a name.
struct Range {
  std::string before, after;
  int first = 0;
  int last = 0;
};

/// The first range in the name.
std::optional<Range> range_in(const std::string& name) {
  const auto number = [&](std::size_t from, std::size_t to) -> std::optional<int> {
    int value = 0;
    const auto [end, error] = std::from_chars(name.data() + from, name.data() + to, value);
    return error == std::errc() && end == name.data() + to && value >= 0 ? std::optional(value) : std::nullopt;
  };
  for (std::size_t open = name.find('{'); open != name.npos; open = name.find('{', open + 1)) {
    const std::size_t close = name.find('}', open);
    const std::size_t dots = name.find("..", open);
    if (close == name.npos || dots > close) continue;
    const std::optional<int> first = number(open + 1, dots);
    const std::optional<int> last = number(dots + 2, close);
    if (first && last) return Range{name.substr(0, open), name.substr(close + 1), *first, *last};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> with_ranges(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    const std::optional<Range> range = range_in(name);
    if (!range) {
      all.push_back(name);
      continue;
    }
    if (range->first > range->last || range->last - range->first >= kMost) {
      throw UsageError(fmt::format("run: {} is no range of names: from the lower number to the higher one, {} at most",
                                   shown(name), kMost));
    }
    for (int i = range->first; i <= range->last; ++i) all.push_back(range->before + std::to_string(i) + range->after);
  }
  return all;
}

}  // namespace holdfast::cli
