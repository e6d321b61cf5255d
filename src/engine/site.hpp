// One lock of one server, or several that are taken together with one command.
#pragma once

#include <atomic>
#include <vector>

#include "engine/target.hpp"
#include "redis/channels.hpp"
#include "redis/lane.hpp"

namespace holdfast::engine {

/// One object per client, kind and name as long as somebody refers to it.
class Site final : public Target {
 public:
  /// `raw_names` are the names on the wire, each once, in canonical order.
  Site(std::string name, const std::vector<std::string>& raw_names, const Plan& plan,
       std::shared_ptr<redis::Channels> channels, Duration handoff);

  /// Of the one lock, or of the first.
  const wire::LockNames& names() const { return names_.front(); }

  /// Of those that were told of a release: clients elsewhere, and waiters of this client, the own ones included.
  std::int64_t others(std::int64_t told) const;

  base::Command release_command(const wire::Owner& owner) const { return plan_.release(names_, owner); }

  const Plan& plan() const override { return plan_; }
  std::string where(const Core& core) const override;
  bool subscribed() const override { return channels_->all_subscribed(wake_channels_); }
  Use begin_use() override;
  /// The same for somebody else than this site's own queue.
  Use begin_use(const redis::Channels::Listener& listener);
  void attempt(Core& core, Order order, AttemptDone done) override;
  void release(Core& core, const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) override;
  Plan::Names renewed_in_batches() const override { return names_; }
  void renew(Core& core, const std::shared_ptr<HeldLock>& hold, RenewDone done) override;

 private:
  Attempt judge(const redis::Result& result);

  // Constant after construction.
  const Plan& plan_;
  const std::vector<wire::LockNames> names_;
  const std::vector<std::string> wake_channels_;
  const std::shared_ptr<redis::Channels> channels_;

  std::atomic<bool> deaf_{false};  // we may not subscribe, and can do without
};

}  // namespace holdfast::engine
