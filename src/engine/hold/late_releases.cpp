#include "engine/hold/late_releases.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::engine {

LateReleases::LateReleases(Runtime& runtime, const RecentReleases& recent)
    : runtime_(runtime), recent_(recent), timer_(runtime.loop().executor()) {}

/// Those that wait already may be too old to be among the recent ones.
void LateReleases::on_connected() {
  std::vector<base::Command> more = recent_.to_repeat(base::Clock::now());
  if (more.empty() || waiting_.size() > RecentReleases::kMost) return;
  std::ranges::move(more, std::back_inserter(waiting_));
  timer_.expires_after(kPause);
  timer_.async_wait([this, keep = runtime_.keep_alive()](boost::system::error_code error) {
    if (!error) repeat();
  });
}

void LateReleases::repeat() {
  for (base::Command& release : std::exchange(waiting_, {})) {
    runtime_.send(redis::Request::of(std::move(release), runtime_.config().command_timeout),
                  [](const redis::Result&) {});
  }
}

void LateReleases::stop() {
  timer_.cancel();
  waiting_.clear();
}

}  // namespace holdfast::engine
