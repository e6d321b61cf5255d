#include "cli/nearest.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::cli {
namespace {

/// Nobody mistypes more than that; this bounds the work.
constexpr std::size_t kLongest = 40;

/// How many slips lie between two words.
std::size_t slips(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> counts(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        counts[i][j] = i + j;
        continue;
      }
      const std::size_t wrong = from[i - 1] == to[j - 1] ? 0 : 1;
      counts[i][j] = std::min({counts[i - 1][j] + 1, counts[i][j - 1] + 1, counts[i - 1][j - 1] + wrong});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) counts[i][j] = std::min(counts[i][j], counts[i - 2][j - 2] + 1);
    }
  }
  return counts[from.size()][to.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() < 3 || word.size() > kLongest) return {};
  std::size_t fewest = word.size() > 4 ? 2 : 1;
  std::string nearest;
  for (const std::string& each : known) {
    const std::size_t count = slips(word, each);
    if (count > fewest) continue;
    nearest = count == fewest && !nearest.empty() ? "" : each;
    fewest = count;
  }
  return nearest.empty() ? "" : " (did you mean " + nearest + "?)";
}

}  // namespace holdfast::cli
