// SPDX-License-Identifier: Apache-2.0
#include "lock/renew/late_releases.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "kinds/server_calls.hpp"

namespace holdfast::engine {

using base::Clock;
using base::TimePoint;

LateReleases::LateReleases(Runtime& runtime, const RecentReleases& recent)
    : runtime_(runtime), recent_(recent), alarm_(runtime.loop().schedule(), [this] { on_alarm(); }) {}

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
void LateReleases::repeat_later(std::vector<ConfirmedRelease> releases) {
  const std::size_t waiting =
      std::accumulate(batches_.begin(), batches_.end(), std::size_t{0},
                      [](std::size_t sum, const Batch& each) { return sum + each->releases(); });
  if (releases.empty() || waiting > RecentReleases::kMost) return;
  batches_.push_back(std::make_shared<LateBatch>(std::move(releases), Clock::now()));
  set_alarm();
}

void LateReleases::set_alarm() {
  std::erase_if(batches_, [](const Batch& each) { return each->over(); });
  TimePoint due = TimePoint::max();
  for (const Batch& each : batches_) due = std::min(due, each->due());
  alarm_.set(due);
}

void LateReleases::on_alarm() {
  std::vector<std::pair<Batch, LateBatch::Step>> steps;
  for (const Batch& batch : batches_) steps.emplace_back(batch, batch->on_time(Clock::now()));
  set_alarm();
  for (auto& [batch, step] : steps) {
    repeat(std::move(step.repeat));
    look(batch, step.look);
  }
}

void LateReleases::repeat(std::vector<base::Command> releases) {
  for (base::Command& release : releases) {
    runtime_.send(
        redis::Request::of(std::move(release), runtime_.config().timing.command_timeout, redis::Operation::release),
        [](const redis::Result&) {});
  }
}

// --- who has come ---

void LateReleases::look(const Batch& batch, const std::vector<std::size_t>& numbers) {
  std::map<redis::Shard*, std::vector<std::size_t>> by_shard;
  for (const std::size_t number : numbers) {
    by_shard[&runtime_.router().shard_of(batch->key(number))].push_back(number);
  }
  for (auto& [shard, its] : by_shard) ask(*shard, batch, std::move(its));
}

void LateReleases::ask(redis::Shard& shard, const Batch& batch, std::vector<std::size_t> numbers) {
  std::vector<std::string> channels;
  for (const std::size_t number : numbers) channels.push_back(batch->channel(number));
  const bool sharded = runtime_.router().publish() == Publish::spublish;
  auto request = redis::Request::of(wire::listeners(channels, sharded), LateBatch::kPause);
  request.here = true;
  shard.ask(std::move(request), [this, keep = runtime_.keep_alive(), &shard, weak = std::weak_ptr(batch),
                                 numbers = std::move(numbers)](const redis::Result& result) {
    if (const Batch its = weak.lock()) on_listeners(shard, *its, numbers, result);
  });
}

/// What is subscribed here was subscribed before that was counted: both are answered in order.
void LateReleases::on_listeners(const redis::Shard& shard, LateBatch& batch, const std::vector<std::size_t>& numbers,
                                const redis::Result& result) {
  if (result.delivery != redis::Delivery::answered) return;
  const Publish how = runtime_.router().publish() == Publish::spublish ? Publish::spublish : Publish::publish;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::optional<std::int64_t> others;
    if (const auto all = wire::decode_listeners(result.replies.front(), i)) {
      const bool own = shard.subscriptions()->subscribed(batch.channel(numbers[i]), how);
      others = static_cast<std::int64_t>(*all) - (own ? 1 : 0);
    }
    repeat(batch.on_look(Clock::now(), numbers[i], others));
  }
  set_alarm();
}

void LateReleases::stop() {
  alarm_.cancel();
  batches_.clear();
}

}  // namespace holdfast::engine
