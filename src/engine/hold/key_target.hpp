// One lock of one server, or several that are taken together with one command.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/hold/key_watch.hpp"
#include "engine/hold/watchdog.hpp"
#include "engine/hold/wire_target.hpp"
#include "redis/connection/lane.hpp"

namespace holdfast::engine {

/// What is asked of its server, and what the answers mean.
class KeyTarget : public WireTarget {
 public:
  Keeper& keeper() const override;
  std::uint32_t acks_era() const override;
  std::string where() const override;
  bool subscribed(const wire::Owner& waiter) const override;
  Use begin_use(const wire::Owner& waiter, const Listener& listener) override;
  void on_part_free(const KeyTarget& part) override;
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

 protected:
  using WireTarget::WireTarget;

 private:
  /// The keeper as it is, with acks and watched keys.
  virtual Watchdog& watchdog() const = 0;
  std::shared_ptr<KeyTarget> self() { return std::static_pointer_cast<KeyTarget>(shared_from_this()); }
  base::Command acquire_command(const Order& order, bool count) const;
  Attempt judge(const redis::Result& result) const;
  /// On the loop, at a grant: has it confirmed, until `until` at the latest.
  void confirm(Attempt granted, Acks acks, milliseconds lease, TimePoint until, AttemptDone done);
  void say_last_where_watched(const std::vector<wire::Renewal>& renewals, milliseconds lease, Duration timeout);
  void renew_with_acks(Acks acks, milliseconds lease, std::vector<wire::Renewal> renewals, RenewDone done);
  void judge_silence(const redis::Refusal& refusal, Attempt& attempt) const;

  std::atomic<bool> blind_{false};  // we may not ask how many listen
};

}  // namespace holdfast::engine
