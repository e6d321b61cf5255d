#include "engine/runtime/links.hpp"

namespace holdfast::engine {

void Links::set(const redis::Shard* shard, std::string node, bool connected) noexcept {
  try {
    const base::Guard guard(mutex_);
    links_[shard] = {std::move(node), connected};
  } catch (...) {
    // Out of memory: this is only for display.
  }
}

void Links::drop(const redis::Shard* shard) noexcept {
  const base::Guard guard(mutex_);
  links_.erase(shard);
}

std::vector<std::pair<std::string, bool>> Links::all() const {
  std::vector<std::pair<std::string, bool>> out;
  const base::Guard guard(mutex_);
  out.reserve(links_.size());
  for (const auto& [shard, link] : links_) out.push_back(link);
  return out;
}

}  // namespace holdfast::engine
