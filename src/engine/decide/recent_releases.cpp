#include "engine/decide/recent_releases.hpp"

#include <utility>

namespace holdfast::engine {

void RecentReleases::add(base::Command release, TimePoint now, TimePoint give_up, Audience audience) {
  while (!latest_.empty() && (latest_.size() >= kMost || latest_.front().at + kWindow < now)) latest_.pop_front();
  latest_.push_back({{std::move(release), std::move(audience)}, now, give_up});
}

std::vector<ConfirmedRelease> RecentReleases::to_repeat(TimePoint now,
                                                        const std::function<bool(const base::Command&)>& there) const {
  std::vector<ConfirmedRelease> releases;
  for (const Release& release : latest_) {
    if (now < release.give_up && there(release.confirmed.command)) releases.push_back(release.confirmed);
  }
  return releases;
}

}  // namespace holdfast::engine
