#include "engine/hold/late_releases.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::engine {

using base::Clock;

LateReleases::LateReleases(Runtime& runtime, const RecentReleases& recent)
    : runtime_(runtime), recent_(recent), alarm_(runtime.loop().schedule(), [this] { repeat(); }) {}

/// In a cluster there are connections without a new primary, and the map tells.
void LateReleases::on_connected() {
  if (runtime_.router().only_shard() != nullptr) repeat_later(recent_.to_repeat(Clock::now()));
}

void LateReleases::on_moved(const redis::cluster::SlotSet& slots) {
  repeat_later(recent_.to_repeat(Clock::now(), [&](const base::Command& release) {
    return release.args.size() > 1 && slots[runtime_.router().slot_of(release.args[1])];  // behind the number of keys
  }));
}

/// Those that wait already may be too old to be among the recent ones.
void LateReleases::repeat_later(std::vector<base::Command> releases) {
  if (releases.empty() || waiting_releases_ > RecentReleases::kMost) return;
  waiting_releases_ += releases.size();
  waiting_.push_back({Clock::now() + kPause, std::move(releases)});
  alarm_.set_by(waiting_.front().due);
}

void LateReleases::repeat() {
  if (waiting_.empty()) return;
  Batch batch = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_releases_ -= batch.releases.size();
  if (!waiting_.empty()) alarm_.set(waiting_.front().due);
  for (base::Command& release : batch.releases) {
    runtime_.send(redis::Request::of(std::move(release), runtime_.config().command_timeout, redis::Operation::release),
                  [](const redis::Result&) {});
  }
}

void LateReleases::stop() {
  alarm_.cancel();
  waiting_.clear();
  waiting_releases_ = 0;
}

}  // namespace holdfast::engine
