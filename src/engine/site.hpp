// One lock of one server, or several that are taken together with one command.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <boost/intrusive/unordered_set_hook.hpp>

#include "engine/target.hpp"
#include "redis/channels.hpp"
#include "redis/lane.hpp"

namespace holdfast::engine {

class Sites;

/// One object per client, kind and name as long as somebody refers to it; made by Sites. There may be millions: no
/// larger than it must be, so the names on the wire are made anew for each use.
class Site final
    : public Target,
      public boost::intrusive::unordered_set_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>> {
 public:
  /// `names`: each once, in canonical order.
  Site(std::shared_ptr<Sites> sites, std::string title, const std::vector<std::string>& names, const Plan& plan);
  ~Site() override;

  /// On the wire, of the one lock, or of the first.
  wire::LockNames names() const;

  /// Of those that were told of a release: clients elsewhere, and waiters of this client, the own ones included.
  std::int64_t others(std::int64_t told) const;

  base::Command release_command(const wire::Owner& owner) const { return plan_.release(all_names(), owner); }

  const Plan& plan() const override { return plan_; }
  std::string where(const Core& core) const override;
  bool subscribed() const override;
  Use begin_use() override;
  /// The same for somebody else than this site's own queue.
  Use begin_use(const redis::Channels::Listener& listener);
  void attempt(Core& core, Order order, AttemptDone done) override;
  void release(Core& core, const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) override;
  std::size_t batched_locks() const override { return several_ ? several_->size() : 1; }
  void add_renewals(std::vector<wire::Renewal>& to, const wire::Owner& owner) const override;
  void renew(Core& core, const std::shared_ptr<HeldLock>& hold, RenewDone done) override;

 private:
  friend class Sites;
  Duration handoff() const override;
  std::vector<wire::LockNames> all_names() const;
  std::vector<std::string> wake_channels() const;
  Attempt judge(const redis::Result& result);

  // Constant after construction.
  const Plan& plan_;
  const std::shared_ptr<Sites> sites_;
  const std::unique_ptr<const std::vector<std::string>> several_;  // null: one lock, of the target's name

  bool listed_ = false;            // guarded by the mutex of sites_
  std::atomic<bool> deaf_{false};  // we may not subscribe, and can do without
};

}  // namespace holdfast::engine
