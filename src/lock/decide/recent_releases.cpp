// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/recent_releases.hpp"

#include <algorithm>
#include <map>
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

/// The latest first, since only the first ones are checked.
LateBatch::LateBatch(std::vector<ConfirmedRelease> releases, TimePoint now)
    : end_(now + kPause), next_look_(now + kFirstLook), left_(releases.size()) {
  std::map<std::string, Locked> by_channel;
  std::vector<std::string> channels;
  for (std::size_t i = releases.size(); i > 0; --i) {
    ConfirmedRelease& each = releases[i - 1];
    if (each.audience.channel.empty()) {
      rest_.push_back(std::move(each.command));
      continue;
    }
    const auto [lock, first] = by_channel.try_emplace(each.audience.channel);
    if (first) channels.push_back(each.audience.channel);
    lock->second.others = std::max(lock->second.others, each.audience.others);
    lock->second.releases.push_back(std::move(each.command));
  }
  for (std::string& channel : channels) {
    Locked& lock = by_channel[channel];
    if (lock.others > 0 && locks_.size() < kMostLooked) {
      lock.channel = std::move(channel);
      locks_.push_back(std::move(lock));
    } else {
      for (base::Command& each : lock.releases) rest_.push_back(std::move(each));
    }
  }
}

TimePoint LateBatch::due() const {
  const bool looks = std::ranges::any_of(locks_, [](const Locked& each) { return !each.releases.empty(); });
  return looks ? std::min(next_look_, end_) : end_;
}

std::string_view LateBatch::key(std::size_t number) const {
  return locks_[number].releases.front().args[1];  // after the number of keys
}

std::vector<base::Command> LateBatch::take(std::vector<base::Command>& from) {
  left_ -= from.size();
  return std::exchange(from, {});
}

LateBatch::Step LateBatch::on_time(TimePoint now) {
  Step step;
  if (now >= end_) {
    step.repeat = take(rest_);
    for (Locked& lock : locks_) {
      for (base::Command& each : take(lock.releases)) step.repeat.push_back(std::move(each));
    }
    return step;
  }
  if (now < next_look_) return step;
  next_look_ = now + pause_;
  pause_ *= 2;
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    if (!locks_[i].releases.empty()) step.look.push_back(i);
  }
  return step;
}

std::vector<base::Command> LateBatch::on_look(TimePoint now, std::size_t number, std::optional<std::int64_t> others) {
  Locked& lock = locks_[number];
  if (others.value_or(0) < lock.others) {
    lock.there_since.reset();
    return {};
  }
  if (!lock.there_since) lock.there_since = now;
  if (now - *lock.there_since >= kStay) return take(lock.releases);
  next_look_ = std::min(next_look_, *lock.there_since + kStay);
  return {};
}

}  // namespace holdfast::engine
