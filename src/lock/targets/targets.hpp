// SPDX-License-Identifier: Apache-2.0
// All targets of one client: makes them, finds them again, and wakes those that wait for any of several.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/intrusive/unordered_set.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "base/fork_guard.hpp"
#include "base/guarded.hpp"
#include "lock/decide/recent_releases.hpp"
#include "lock/targets/key_target.hpp"

namespace holdfast::engine {

/// One KeyTarget per kind and names as long as somebody refers to it, or it is among the latest that others wanted: who
/// takes the same lock again and again by its name must not forget them in between. A target strikes itself off, but
/// not in a forked child, where the mutex may be locked for ever. Thread-safe.
class Targets : public boost::intrusive_ref_counter<Targets> {
 public:
  /// Of the client that these are of, which whoever uses a target keeps alive.
  Targets(Runtime& runtime, Watchdog& watchdog);
  ~Targets();
  Targets(const Targets&) = delete;
  Targets& operator=(const Targets&) = delete;

  /// Of this lock, or of these locks together (each once, sorted).
  std::shared_ptr<KeyTarget> target(const std::vector<std::string>& names, const Plan& plan);
  /// Of any one of several: this one, or the one that there is already, if they are the same.
  std::shared_ptr<Target> only_one_of(std::shared_ptr<Target> made, const std::function<bool(const Target&)>& same);
  /// Where a lock lies; 0 with one server.
  std::uint16_t slot_of(const std::string& name, const Plan& plan) const;
  /// A target of several clients. Each of them wakes it when it is connected anew; it ends with the one that serves it.
  enum class Bond { serves, wakes };
  void adopt(const std::shared_ptr<Target>& target, Bond bond);
  /// What ends with this client; with `all`, also what is only woken by it.
  enum class Which { own, all };
  std::vector<std::shared_ptr<Target>> all(Which which);

  /// What others want stays until so many others have come after it, or until let_go().
  static constexpr std::size_t kMostKept = 64;
  /// The client is over, and none stays any more: what a target refers to may refer to the client.
  void let_go() noexcept;

  /// Those with a part in one of these slots, whatever they end with.
  std::vector<std::shared_ptr<Target>> in(const redis::cluster::SlotSet& slots);
  /// On the loop. Empty where no server succeeds another.
  RecentReleases& recent_releases() { return recent_releases_; }

 private:
  struct Key {
    const Plan* plan;
    const std::string& title;
    const std::vector<std::string>* several;  // null: one lock
  };
  struct Same {
    bool operator()(const Key& key, const KeyTarget& target) const;
    bool operator()(const KeyTarget& a, const KeyTarget& b) const { return &a == &b; }
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return of(*key.plan, key.title); }
    std::size_t operator()(const KeyTarget& target) const { return of(target.plan(), target.name()); }
    static std::size_t of(const Plan& plan, const std::string& title) {
      return std::hash<std::string>()(title) ^ std::hash<const void*>()(&plan);
    }
  };
  using Table = boost::intrusive::unordered_set<
      KeyTarget, boost::intrusive::member_hook<KeyTarget, decltype(KeyTarget::hook_), &KeyTarget::hook_>,
      boost::intrusive::hash<Hash>, boost::intrusive::equal<Same>, boost::intrusive::power_2_buckets<true>>;

  friend class KeyTarget;
  void forget(KeyTarget& target);
  void add_union(const std::shared_ptr<Target>& target) HOLDFAST_REQUIRES(mutex_);
  /// Those that wait for any of several, this one among them, look again.
  void wake_unions(const KeyTarget& part) noexcept;
  void keep(std::shared_ptr<KeyTarget> target) noexcept;

  const base::ForkGuard fork_guard_;
  Runtime& runtime_;
  Watchdog& watchdog_;
  RecentReleases recent_releases_;

  base::Mutex mutex_;
  std::unique_ptr<Table::bucket_type[]> buckets_ HOLDFAST_GUARDED_BY(mutex_);
  std::size_t bucket_count_ HOLDFAST_GUARDED_BY(mutex_);
  Table table_ HOLDFAST_GUARDED_BY(mutex_);
  std::array<std::shared_ptr<KeyTarget>, kMostKept> kept_ HOLDFAST_GUARDED_BY(mutex_);
  struct Adopted {
    std::weak_ptr<Target> target;
    Bond bond;
  };
  std::vector<Adopted> adopted_ HOLDFAST_GUARDED_BY(mutex_);
  std::size_t sweep_at_ HOLDFAST_GUARDED_BY(mutex_) = 0;                   // as many of them, perhaps gone
  std::vector<std::weak_ptr<Target>> unions_ HOLDFAST_GUARDED_BY(mutex_);  // of kinds with Plan::each
  std::atomic<bool> has_unions_{false};                                    // there is one, perhaps gone
  std::size_t next_kept_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace holdfast::engine
