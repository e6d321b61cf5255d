#include "cli/around.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {

std::vector<std::string> owners_around() {
  const char* around = std::getenv(kOwners);
  std::istringstream owners(around == nullptr ? "" : around);
  return {std::istream_iterator<std::string>(owners), {}};
}

void refuse_to_wait_for_ourselves(const std::vector<LockInfo>& holders) {
  const std::vector<std::string> owners = owners_around();
  const auto ours = [&](const LockInfo& info) {
    return std::ranges::any_of(info.holders, [&](const LockHolder& holder) {
      return std::ranges::find(owners, holder.owner) != owners.end();
    });
  };
  const auto own = std::ranges::find_if(holders, ours);
  if (own == holders.end()) return;
  throw UsageError(
      fmt::format("lock {} is held by a run that this command is part of, so it would wait for itself; "
                  "if that run does not wait for this command, unset {}",
                  base::quote(own->name), kOwners));
}

}  // namespace holdfast::cli
