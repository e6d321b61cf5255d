#include "cli/kind_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::cli {
namespace {

using Named = std::pair<LockKind, const char*>;

constexpr std::array<Named, 10> kNames{{{LockKind::lock, "lock"},
                                        {LockKind::fenced, "fenced"},
                                        {LockKind::fair, "fair"},
                                        {LockKind::simple, "simple"},
                                        {LockKind::spin, "spin"},
                                        {LockKind::write, "read-write"},
                                        {LockKind::read, "read-write"},
                                        {LockKind::permit, "permit"},
                                        {LockKind::semaphore, "semaphore"},
                                        {LockKind::latch, "latch"}}};

}  // namespace

std::optional<LockKind> kind_named(std::string_view name) {
  const auto found = std::ranges::find_if(kNames, [name](const Named& each) { return each.second == name; });
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

const char* name_of(LockKind kind) { return std::ranges::find(kNames, kind, &Named::first)->second; }

}  // namespace holdfast::cli
