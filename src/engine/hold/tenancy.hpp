// What a server has granted to this client: an owner with a lease, renewed and watched, no matter who uses it here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/intrusive/set_hook.hpp>

#include "base/guarded.hpp"
#include "engine/decide/hold_fsm.hpp"
#include "engine/hold/claim.hpp"

namespace holdfast::engine {

/// What is kept of a grant: all of it or, for most, only the number of an owner of this client that has one permit.
class Granted {
 public:
  Granted(std::unique_ptr<const wire::Grant> grant, std::uint64_t owner_number);
  ~Granted() { delete grant(); }
  Granted(const Granted&) = delete;
  Granted& operator=(const Granted&) = delete;
  /// Null: only the number is kept.
  const wire::Grant* grant() const { return kept_ ? either_.grant : nullptr; }
  std::uint64_t owner_number() const { return either_.owner_number; }
  std::uint32_t permits() const { return kept_ ? either_.grant->owner.ask.permits : 1; }

 private:
  union {
    const wire::Grant* grant;
    std::uint64_t owner_number;
  } either_{};
  const bool kept_;  // fields of the tenancy fit in behind it
};

/// One grant of the server, until it is released or lost. Callers of this client have claims on it: one after another
/// when it is passed on, several at the same time if the kind allows that. Neither changes the grant. It decides, and
/// announces its loss; whoever ends it does the rest (hold_release.cpp). Thread-safe. There may be millions of them, so
/// none is larger than it must be: the first claim is a part of it.
class Tenancy : public std::enable_shared_from_this<Tenancy>, private Claim {
 public:
  /// `grant`: null if the server has said no more than that it grants, as for most kinds. `on_lost` is that of the
  /// first claim.
  Tenancy(std::shared_ptr<Runtime> runtime, std::shared_ptr<Acquirable> target, const wire::Owner& owner, wire::Ask ask,
          TimePoint sent_at, const LeaseTerms& terms, const LossSignal::LostCallback& on_lost,
          std::unique_ptr<const wire::Grant> grant = nullptr, std::uint32_t acked_era = 0);
  ~Tenancy();
  Tenancy(const Tenancy&) = delete;
  Tenancy& operator=(const Tenancy&) = delete;

  wire::Owner owner() const;
  /// The number that the server has given to this grant, if the kind has such numbers.
  std::optional<std::int64_t> token() const {
    return granted_.grant() != nullptr ? granted_.grant()->token : std::nullopt;
  }
  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  const std::shared_ptr<Acquirable>& target() const { return target_; }
  /// In which mode its owner has it, and how many permits.
  wire::Ask ask() const { return {mode_.load(std::memory_order_relaxed), granted_.permits()}; }
  milliseconds lease() const { return known(&HoldFsm::lease); }
  bool renewed() const { return known(&HoldFsm::renewed); }
  Acks acks() const HOLDFAST_NOT_GUARDED { return fsm_.acks(); }  // constant

  /// The claim that it began with.
  std::shared_ptr<Claim> first_claim() { return {shared_from_this(), static_cast<Claim*>(this)}; }
  /// Another claim, with a cap of its own. Null: the lease does not fit these terms, or does not last long enough.
  std::shared_ptr<Claim> add_claim(const LeaseTerms& terms, const LossSignal::LostCallback& on_lost, TimePoint now);

  bool ended() const { return known(&HoldFsm::ended); }
  /// As far as we know. Without side effects: the target asks, which must not run callbacks.
  Duration valid_for(TimePoint now) const { return known(&HoldFsm::valid_for, now); }
  /// When the command was sent that last set the lease.
  TimePoint extended_at() const { return known(&HoldFsm::last_extension); }
  TimePoint granted_at() const HOLDFAST_NOT_GUARDED { return fsm_.granted_at(); }  // constant

  // For hold_release.cpp.
  /// Ends it, whoever has a claim on it; the caller takes it from whoever renews it. Empty if somebody else releases
  /// it, or has.
  std::optional<Ending> begin_release() noexcept;
  /// What the release found.
  void set_outcome(ReleaseOutcome outcome);
  /// For how long it stays taken behind its end, since somebody who shared it has left it so. Zero: it does not.
  milliseconds rest(TimePoint now) const;

  /// For changes.cpp, on the loop. After Claim::begin_share() its owner may have it together with others; after
  /// on_shared() it does, with the lease of the extension that this is. end_share() undoes begin_share().
  void on_shared(const HoldFsm::Extension& extension, TimePoint sent_at, TimePoint now);
  bool is_being_shared() const { return being_shared_.load(std::memory_order_relaxed); }
  /// The server does not have it as its owner's alone: if at all, it is shared.
  void on_no_longer_alone() { mode_.store(wire::Mode::shared, std::memory_order_relaxed); }
  void end_share() { being_shared_.store(false, std::memory_order_relaxed); }

  // For changes.cpp: see HoldFsm.
  HoldFsm::Extension begin_extension(TimePoint now, milliseconds length) {
    return let(&HoldFsm::begin_extension, now, length);
  }
  void on_extended(const HoldFsm::Extension& extension, TimePoint sent_at, TimePoint now, std::uint32_t acked_era);
  void on_extension_unanswered() { let(&HoldFsm::on_extension_unanswered); }

  // For the watchdog, on the loop.
  HoldFsm::Todo on_time(TimePoint now, Duration early);
  void on_renewed(TimePoint sent_at, TimePoint now, std::uint32_t acked_era);
  /// False: the answer says nothing, and the question is to be repeated. What was sent before on_shared() was about a
  /// hold that the owner has alone.
  bool on_gone(TimePoint sent_at, TimePoint now);
  void on_unanswered(TimePoint now, const std::string& cause);
  void on_reconnect(TimePoint now) { let(&HoldFsm::on_reconnect, now); }
  void on_moved(TimePoint now);
  void on_closed();
  /// See HoldFsm. From any thread. True: the watchdog is to check it.
  bool on_doubt(TimePoint now) { return let(&HoldFsm::on_doubt, now); }
  bool begin_watch(TimePoint now, Duration early) { return let(&HoldFsm::begin_watch, now, early); }
  TimePoint due() const { return known(&HoldFsm::due); }
  bool steady() const { return known(&HoldFsm::steady); }
  Duration lateness(TimePoint now) const { return known(&HoldFsm::lateness, now); }
  // The same, on the signal thread. True: it has just been lost, which is to be announced without any mutex.
  bool expire(TimePoint now);
  void announce_expired() noexcept;
  void drop_watches();

  // For the watchdog only, guarded by its mutex. Its schedule keeps no tenancy alive.
  bool armed = false;
  std::uint32_t place_in_slot = 0;  // of HoldsBySlot
  /// Adds a reference to it, unless it is being destroyed. The place is made first: a reference that there is no memory
  /// for could be the last one, and the end of a tenancy needs the watchdog's mutex.
  static void add_to(std::vector<std::shared_ptr<Tenancy>>& holds, Tenancy& hold) {
    holds.emplace_back() = hold.weak_from_this().lock();
    if (!holds.back()) holds.pop_back();
  }
  using Hook = boost::intrusive::set_member_hook<boost::intrusive::optimize_size<true>,
                                                 boost::intrusive::link_mode<boost::intrusive::normal_link>>;
  Hook schedule_hook{};
  TimePoint scheduled{};

 private:
  friend class Claim;
  class LaterClaim;
  /// After a change to `lost`, without the mutex. Where stop callbacks run is the caller's choice.
  enum class StopIn { this_thread, signal_thread };
  void announce_loss(LossReason reason, StopIn where) noexcept;
  std::shared_ptr<Claim> take_claim() noexcept;
  void link(Claim& claim) HOLDFAST_REQUIRES(mutex_);
  void unlink(Claim& claim) HOLDFAST_REQUIRES(mutex_);
  /// Claims besides this one, which is one of them.
  bool has_claims_beside(const Claim& claim) const HOLDFAST_REQUIRES(mutex_);
  bool has_claims() const HOLDFAST_REQUIRES(mutex_) { return open_ || later_claims_ != nullptr; }
  Ending ending(TimePoint now, bool stood) const HOLDFAST_REQUIRES(mutex_);
  template <class Result, class... Args>
  Result known(Result (HoldFsm::*question)(Args...) const, std::type_identity_t<Args>... args) const {
    const base::Guard guard(mutex_);
    return (fsm_.*question)(args...);
  }
  /// A change that nobody has to be told of.
  template <class Result, class... Args>
  Result let(Result (HoldFsm::*event)(Args...), std::type_identity_t<Args>... args) {
    const base::Guard guard(mutex_);
    return (fsm_.*event)(args...);
  }
  template <class... Args>
  void change(const std::string& cause, HoldFsm::Change (HoldFsm::*decide)(Args...),
              std::type_identity_t<Args>... args);

  // Constant after construction.
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Acquirable> target_;

  HoldFsm fsm_ HOLDFAST_GUARDED_BY(mutex_);
  TimePoint rest_until_ HOLDFAST_GUARDED_BY(mutex_){};              // see rest()
  LaterClaim* later_claims_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;  // those that have not ended
  [[no_unique_address]] const Granted granted_;
  std::atomic<wire::Mode> mode_;
  std::atomic<bool> being_shared_{false};
  TimePoint shared_at_{};                                                         // on the loop
  ReleaseOutcome outcome_ HOLDFAST_GUARDED_BY(mutex_) = ReleaseOutcome::unknown;  // of the release, once it is known
  mutable base::SmallMutex mutex_;
};

}  // namespace holdfast::engine
