#include "cli/name_ranges.hpp"

#include <charconv>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/secrets.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kMost = 10'000;

[[noreturn]] void refuse(const std::string& name) {
  throw UsageError(fmt::format(
      "run: {} is no range of names: two numbers with .. between them, from the lower one to the higher, {} "
      "names at most",
      shown(name), kMost));
}

/// `{0..7}` somewhere in a name.
struct Range {
  std::string before, after;
  int first = 0;
  int last = 0;
};

/// The first range in the text, which is the name, or what is left of it. Two dots in braces that are no range are a
/// mistake: nobody means such a name.
std::optional<Range> range_in(const std::string& text, const std::string& name) {
  const auto number = [&](std::size_t from, std::size_t to) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + to, value);
    if (error != std::errc() || end != text.data() + to || value < 0) refuse(name);
    return value;
  };
  for (std::size_t dots = text.find(".."); dots != text.npos; dots = text.find("..", dots + 1)) {
    const std::size_t open = text.find_last_of("{}", dots);
    const std::size_t close = text.find_first_of("{}", dots);
    if (open == text.npos || text[open] == '}' || close == text.npos || text[close] == '{') continue;
    Range range{text.substr(0, open), text.substr(close + 1), number(open + 1, dots), number(dots + 2, close)};
    if (range.first > range.last) refuse(name);
    return range;
  }
  return std::nullopt;
}

/// Adds the names that this one stands for.
void expand(const std::string& whole, const std::string& before, const std::string& rest,
            std::vector<std::string>& all) {
  const std::optional<Range> range = range_in(rest, whole);
  if (!range) {
    all.push_back(before + rest);
    return;
  }
  if (static_cast<std::size_t>(range->last - range->first) >= kMost) refuse(whole);
  for (int i = range->first; i <= range->last; ++i) {
    expand(whole, before + range->before + std::to_string(i), range->after, all);
    if (all.size() > kMost) refuse(whole);
  }
}

}  // namespace

std::vector<std::string> with_ranges(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) expand(name, "", name, all);
  return all;
}

}  // namespace holdfast::cli
