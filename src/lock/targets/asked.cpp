// SPDX-License-Identifier: Apache-2.0
#include "lock/targets/asked.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinds/server_calls.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/key_target.hpp"
#include "loop/alarm.hpp"

namespace holdfast::engine {
namespace {

/// Keeps the channels subscribed on which a lock's holders are asked for it. Looks each second whether they still are,
/// which sends nothing as long as that is so.
class AskedChannels final : public Loop::Task, public std::enable_shared_from_this<AskedChannels> {
 public:
  AskedChannels(std::shared_ptr<KeyTarget> target, const redis::Listeners::Listener& listener)
      : target_(std::move(target)),
        client_(target_->runtime().client()),
        listeners_(target_->runtime().listeners()),
        alarm_(target_->runtime().loop().schedule(), [this] { run(); }) {
    for (const wire::LockNames& each : target_->all_names()) channels_.push_back(wire::asked_channel(each.key));
    for (const std::string& each : channels_) uses_.push_back(listeners_->begin_use(each, listener));
  }
  ~AskedChannels() override {
    // Nobody waits for the channels, so they are given back with the next that are.
    for (std::size_t i = 0; i < uses_.size(); ++i) listeners_->end_use(channels_[i], uses_[i], {});
  }

  void run() override {
    if (over_) return;
    Runtime& runtime = target_->runtime();
    if (!target_->shard().subscriptions()->all_subscribed(channels_, Publish::publish)) {
      redis::Request request =
          redis::Request::of(wire::remaining(target_->names().key), runtime.config().timing.command_timeout);
      request.subscribe = channels_;
      request.publish = Publish::publish;
      runtime.send(std::move(request), [](const redis::Result&) {});
    }
    alarm_.set_after(kLook, shared_from_this());
  }
  void broken() noexcept override { alarm_.set_after(kLook, shared_from_this()); }

  /// From any thread.
  void end() noexcept {
    over_ = true;
    const std::shared_ptr<void> client = client_.lock();
    if (!client) return;
    try {
      target_->runtime().loop().defer([self = shared_from_this()] { self->alarm_.cancel(); });
    } catch (...) {
      // Out of memory: at the next look.
    }
  }

 private:
  static constexpr std::chrono::seconds kLook{1};

  const std::shared_ptr<KeyTarget> target_;
  const std::weak_ptr<void> client_;
  const std::shared_ptr<redis::Listeners> listeners_;
  std::vector<std::string> channels_;  // constant after construction
  std::vector<std::uint64_t> uses_;    // the same
  std::atomic<bool> over_{false};
  timing::Alarm alarm_;
};

/// Ends with its last owner.
std::shared_ptr<AskedChannels> keep(std::shared_ptr<KeyTarget> target, const redis::Listeners::Listener& listener) {
  const auto channels = std::make_shared<AskedChannels>(std::move(target), listener);
  return {channels.get(), [channels](AskedChannels*) { channels->end(); }};
}

}  // namespace

void listen_asked(const std::shared_ptr<Claim>& claim, std::function<void()> on_asked) {
  const auto listener = [client = std::weak_ptr(claim->runtime()), on_asked = std::move(on_asked)](redis::Busy) {
    const std::shared_ptr<Runtime> runtime = client.lock();
    if (runtime && !runtime->notifier().post(on_asked)) runtime->reporter().add(&Counters::events_dropped);
  };
  std::vector<std::shared_ptr<KeyTarget>> keys;
  claim->target()->add_keys(keys);
  std::vector<std::shared_ptr<AskedChannels>> all;
  for (std::shared_ptr<KeyTarget>& each : keys) {
    Loop& loop = each->runtime().loop();
    all.push_back(keep(std::move(each), listener));
    loop.post(all.back()->shared_from_this());
  }
  claim->watch([all = std::move(all)](std::optional<LossReason>) {});
}

}  // namespace holdfast::engine
