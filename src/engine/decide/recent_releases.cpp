#include "engine/decide/recent_releases.hpp"

#include <utility>

namespace holdfast::engine {

void RecentReleases::add(base::Command release, TimePoint now, TimePoint give_up) {
  while (!latest_.empty() && (latest_.size() >= kMost || latest_.front().at + kWindow < now)) latest_.pop_front();
  latest_.push_back({std::move(release), now, give_up});
}

std::vector<base::Command> RecentReleases::to_repeat(TimePoint now,
                                                     const std::function<bool(const base::Command&)>& there) const {
  std::vector<base::Command> commands;
  for (const Release& release : latest_) {
    if (now < release.give_up && there(release.command)) commands.push_back(release.command);
  }
  return commands;
}

}  // namespace holdfast::engine
