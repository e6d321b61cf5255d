// SPDX-License-Identifier: Apache-2.0
// One lock of one server, or several that are taken together with one command.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/intrusive/unordered_set_hook.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include "lock/decide/recent_releases.hpp"
#include "lock/decide/release_fsm.hpp"
#include "lock/queue/target.hpp"
#include "lock/renew/key_watch.hpp"
#include "lock/renew/watchdog.hpp"
#include "redis/connection/lane.hpp"
#include "redis/connection/subscriptions.hpp"

namespace holdfast::engine {

class Targets;

/// A target as the wire knows it: its names, its server, who hears of its releases, what is asked, and what the answers
/// mean. One object per client, kind and name as long as somebody refers to it: Targets makes it. There may be
/// millions: no larger than it must be, so the names on the wire are made anew for each use.
class KeyTarget final : public Target {
 public:
  /// `several`: each once, in canonical order, and all of them in this slot; null: one lock, of this name.
  KeyTarget(boost::intrusive_ptr<Targets> targets, std::string name, const std::vector<std::string>* several,
            const Plan& plan, std::uint16_t slot);
  ~KeyTarget() override;

  /// All those of its client.
  Targets& targets() const { return *targets_; }
  /// This name is among them.
  bool has(const std::string& each) const;
  /// On the wire, of one of its locks.
  wire::LockNames names(std::size_t which = 0) const;
  std::vector<wire::LockNames> all_names() const;

  /// Somebody tells its releases, so waiters may listen for them.
  bool announces() const { return plan_.traits.announced != Traits::Announced::none; }
  /// How its releases are told, and its waiters subscribe: as the router says. But SPUBLISH cannot reach a channel that
  /// lies in another slot than the lock, as those of names with a lone brace do: PUBLISH, then.
  Publish publish() const;
  /// The channels on which a release has to be told once more where it went behind an ASKING: see Request::tells.
  std::vector<std::string> sharded_channels() const;
  /// Who was told of a release, by the number of those who heard: clients elsewhere, and waiters of this client, the
  /// own ones included. Where that does not count all (a cluster with PUBLISH; a release behind an ASKING), one more.
  std::int64_t others(std::int64_t reached, bool asked = false) const;
  /// Those elsewhere of whom a release has reached so many, if all who wait for it listen on one channel, and are
  /// counted.
  Audience audience(std::int64_t reached, bool asked) const;
  /// How many messages have come on a channel.
  struct Heard {
    std::string channel;
    std::uint64_t messages = 0;
  };
  /// On each channel. Empty while no channel is known, and where each waiter has its own.
  std::vector<Heard> heard_so_far() const;
  /// So many were told of a release that was sent when `before` had come. Those of its messages that have not yet come
  /// to this client itself come next: its listeners run now, and not then.
  void expect_own(std::int64_t reached, const std::vector<Heard>& before) const;

  /// What is given back to the server: a hold; what an acquire of unknown outcome may have taken; or a place in the
  /// queue that the server keeps.
  enum class Returned { hold, perhaps_hold, place };
  /// It may be sent again for so long.
  base::Command return_command(Returned what, const wire::Owner& owner, milliseconds repeated) const;

  const Plan& plan() const override { return plan_; }
  Runtime& runtime() const override;
  std::size_t locks() const override { return several_ ? several_->size() : 1; }
  std::uint16_t slot() const { return slot_; }
  /// The server that has it now.
  redis::Shard& shard() const;
  bool stands_on(const redis::Shard& shard) const override;
  bool lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const override;

  void arm(const std::shared_ptr<Tenancy>& hold) override { watchdog().arm(hold); }
  bool disarm(Tenancy& hold) override { return watchdog().disarm(hold); }
  void look_now(const std::shared_ptr<Tenancy>& hold) override { watchdog().look_now(hold); }
  std::uint32_t acks_era() const override;
  std::string where() const override;
  bool subscribed(const wire::Owner& waiter) const override;
  Use begin_use(const wire::Owner& waiter, const Listener& listener) override;
  void add_keys(std::vector<std::shared_ptr<KeyTarget>>& to) override { to.push_back(self()); }
  void on_part_free(const KeyTarget& part) override;
  /// Itself, or the one of several that this grants.
  std::shared_ptr<Target> granted(const wire::Grant& grant) override;
  void attempt(Order order, AttemptDone done) override;
  void release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) override;
  void withdraw(const wire::Owner& owner, milliseconds lease) noexcept override;
  void ask_holder(HolderDone done) override;
  std::optional<BatchPlace> batch_place() const override { return BatchPlace{&shard(), slot(), locks()}; }
  void add_renewals(std::vector<wire::Renewal>& to, const wire::Owner& owner) const override;
  void renew(const std::shared_ptr<Tenancy>& hold, milliseconds lease, RenewDone done) override;
  void watch(const std::shared_ptr<Tenancy>& hold) override { watch(hold, nullptr); }
  void share(const wire::Owner& owner, milliseconds lease, Duration timeout, const RenewDone& done) override;
  std::string watched_key(std::size_t which) const override;
  /// Of a group's hold: which of its members may lose it.
  void watch(const std::shared_ptr<Tenancy>& hold, const Spare& spare);

 private:
  friend class Targets;
  void tell_unions() noexcept override;
  void stay() noexcept override;
  Watchdog& watchdog() const;
  const std::vector<std::string>* several() const { return several_.get(); }
  /// The caller's name for one of its locks.
  const std::string& lock_name(std::size_t which) const { return several_ ? (*several_)[which] : name(); }
  std::shared_ptr<KeyTarget> self() { return std::static_pointer_cast<KeyTarget>(shared_from_this()); }
  base::Command acquire_command(const Order& order, bool count) const;
  Attempt judge(const redis::Result& result) const;
  /// On the loop, at a grant: has it confirmed, until `until` at the latest.
  void confirm(Attempt granted, Acks acks, milliseconds lease, TimePoint until, AttemptDone done);
  void say_last_where_watched(const std::vector<wire::Renewal>& renewals, milliseconds lease, Duration timeout);
  void renew_with_acks(Acks acks, milliseconds lease, std::vector<wire::Renewal> renewals, RenewDone done);
  void judge_silence(const redis::Refusal& refusal, Attempt& attempt) const;
  std::vector<std::string> wake_channels(const wire::Owner& waiter) const;
  redis::Subscriptions& subscriptions() const;
  std::vector<std::string> common_channels() const;

  const Plan& plan_;
  const std::unique_ptr<const std::vector<std::string>> several_;
  const std::uint16_t slot_;        // 0 with one server
  std::atomic<bool> blind_{false};  // we may not ask how many listen
  // For Targets; the two flags are guarded by its mutex.
  bool listed_ = false;
  bool staying_ = false;
  boost::intrusive::unordered_set_member_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>> hook_{};
  const boost::intrusive_ptr<Targets> targets_;
};

/// Carries out a release on the loop until its outcome is known, or a waiter's leave: the shell around ReleaseFsm.
/// Starts at once (the first send is queued before this returns, so a later acquire of the same client goes behind it).
/// `done` is called once, on the loop.
void start_return(const std::shared_ptr<KeyTarget>& target, KeyTarget::Returned what, const wire::Owner& owner,
                  ReleaseFsm fsm, ReleaseDone done);

}  // namespace holdfast::engine
