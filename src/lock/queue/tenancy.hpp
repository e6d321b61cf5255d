// SPDX-License-Identifier: Apache-2.0
// What a server has granted to this client, and who uses it here. Both decide; what follows for others, those do who
// bring them an event: hold_events.hpp, hold_release.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/intrusive/set_hook.hpp>

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

#include "base/guarded.hpp"
#include "kinds/calls.hpp"
#include "lock/decide/hold_fsm.hpp"
#include "loop/notifier.hpp"

namespace holdfast::engine {

class Claim;
class Runtime;
class Target;
class Tenancy;

/// How the end of a hold is announced: stop tokens, those who watch it, and `on_lost`. Only few holds have one that is
/// not empty. It is filled before the hold is lost, since there may be no memory then. The hold guards it with its
/// mutex, except for what runs the user's code.
class LossSignal {
 public:
  using LostCallback = std::function<void(const LostEvent&)>;
  /// Called once, at the end: why it was lost, or nothing if it has ended otherwise.
  using EndCallback = std::function<void(std::optional<LossReason>)>;
  /// Those who are told of the end. For `on_lost` it is a notice, and belongs to the notifier once it is posted.
  class Watches final : public Notifier::Notice {
   public:
    explicit Watches(LostCallback on_lost = {}) : on_lost_(std::move(on_lost)) {}
    std::uint64_t add(EndCallback on_end);
    EndCallback remove(std::uint64_t watching);
    /// Calls all who were added. Once, without the mutex.
    void tell(std::optional<LossReason> lost) const noexcept;
    /// Has `on_lost` called, if there is one. `name`: the lock's, as long as the claim lives.
    static void post(std::unique_ptr<Watches> watches, std::shared_ptr<Claim> claim, const std::string& name,
                     LossReason reason) noexcept;

   private:
    void run() override;
    void drop() noexcept override;

    const LostCallback on_lost_;
    std::map<std::uint64_t, EndCallback> ends_;
    std::shared_ptr<Claim> claim_;  // while it is posted, as what follows
    const std::string* name_ = nullptr;
    LossReason reason_{};
  };
  using WatchesPtr = std::unique_ptr<Watches>;
  class Stop;

  /// Null: nobody watches yet.
  explicit LossSignal(WatchesPtr first);

  // With the hold's mutex.
  /// `lost`: it is stopped already.
  std::stop_token token(bool lost);
  /// To be stopped without the mutex; without state if nobody has a token.
  std::stop_source source() const;
  /// Null: nobody has a token; whoever asks for one later finds it stopped.
  Stop* stop() const;
  /// Null, for the first who watches to fill.
  WatchesPtr& watches();
  /// What is returned is to be destroyed without the mutex.
  EndCallback unwatch(std::uint64_t watching);
  WatchesPtr take_watches();

  // Without it.
  /// Stops the tokens on the signals' thread, and keeps the hold alive until then. Once.
  static void post(Stop& stop, Notifier& signals, std::shared_ptr<void> hold) noexcept;

 private:
  struct Destroy {
    void operator()(Stop* stop) const noexcept;
  };
  Stop& made();

  std::unique_ptr<Stop, Destroy> stop_;  // once somebody watches or has asked for a token, and then to the end
};

/// What a release needs to know of the tenancy that it ends.
struct Ending {
  TimePoint deadline{};
  TimePoint extended_at{};
  TimePoint give_up{};  // when the server has certainly let it expire
  bool stood = false;
  bool found_lost = false;           // just now: whoever ends it announces that
  std::optional<TimePoint> since{};  // when the claim began that ends with it; empty: nobody had it
};

/// A claim on a tenancy, with a loss signal and an outcome of its own. It shares the tenancy's fate until it ends; what
/// becomes of the tenancy afterwards no longer concerns it. Thread-safe: the tenancy's mutex guards it, and the user's
/// code runs without that mutex.
class Claim {
 public:
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  Tenancy& tenancy();
  const Tenancy& tenancy() const;
  /// Keeps the client alive.
  const std::shared_ptr<Runtime>& runtime() const;
  const std::shared_ptr<Target>& target() const;

  // As it is known; whoever wants to know as it is looks at the clock first (hold_events.hpp: checked).
  HoldState state() const;
  /// Zero once it is lost.
  Duration valid_for() const;
  /// The same, even if the primary fails at this moment; `era`: the current one for acks.
  Duration durable_for(std::uint32_t era) const;
  std::stop_token stop_token();
  std::optional<LossReason> loss_reason() const;
  /// It ends only by a release or a fault.
  bool endless() const;
  /// Still ours as far as we know. Without side effects.
  bool stands() const;
  /// When this claim began.
  TimePoint granted_at() const;
  /// Of the release; `unknown` as long as it is not known.
  ReleaseOutcome known_outcome() const;

  /// `on_end` is called at the end of the claim, perhaps at once, on any thread; it must not block. Returns what
  /// unwatch() takes.
  std::uint64_t watch(LossSignal::EndCallback on_end);
  void unwatch(std::uint64_t watching);  ///< The callback may still be called once after this.

  /// For changes.cpp: from now on its owner may have it together with others. Returns the extension that this is.
  /// Empty: it does not stand, or has been given back.
  std::optional<HoldFsm::Extension> begin_share();

  // For hold_events.cpp.
  /// Looks at the clock. `found_lost`: its time is over, which is to be announced.
  struct Look {
    Duration left{};
    bool lost = false;
    bool found_lost = false;
  };
  Look look();
  /// Its stop token, if somebody has one: here, or on the signals' thread.
  enum class StopIn { this_thread, signal_thread };
  void stop(StopIn where) noexcept;
  /// Tells those who watch why it was lost. `name`: the lock's.
  void tell_lost(const std::string& name, LossReason reason) noexcept;

  // For hold_release.cpp, which decides how it is given back.
  /// `left`: others here still have the tenancy, or have lost it with this one and ended it. `last`: it ends with this
  /// claim, and the caller takes it from whoever renews it. `ended`: somebody else ends it, or has.
  enum class Release { left, last, ended };
  /// `rest`: for so long it is to stay taken behind its end, and behind that of the tenancy if others still have it.
  Release begin_release(Ending& ending, milliseconds rest = {}) noexcept;
  /// Ends it if others of this client have the tenancy as well: nothing is to be sent.
  bool leave_to_others(TimePoint now) noexcept;
  /// Ends it if it is the only claim on its tenancy, and that can be passed on to another caller. The tenancy stays as
  /// it is.
  bool begin_pass_on(TimePoint now);
  /// Tells those who watch that it has ended, unless it was lost: whoever has found that tells them. Without the mutex.
  void tell_end() noexcept;

  /// Shares its ownership with whoever has it.
  std::shared_ptr<Claim> self();

 private:
  friend class Tenancy;
  /// `first`: the one that is a part of its tenancy.
  enum class Which : std::uint8_t { first, later };
  Claim(Which which, const LossSignal::LostCallback& on_lost);
  ~Claim() = default;

  LossSignal signal_;
  // Two bytes: fields of the tenancy fit in behind them.
  const Which which_;
  bool open_ : 1 = false;      // one of its tenancy's claims: it has not ended
  bool released_ : 1 = false;  // by its holder
  bool parted_ : 1 = false;    // it has ended, and the tenancy went on
  bool left_ : 1 = false;      // parted, and what it wanted to be left is left when the tenancy ends
};

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
/// when it is passed on, several at the same time if the kind allows that. Neither changes the grant. Thread-safe.
/// There may be millions of them, so none is larger than it must be: the first claim is a part of it. Its target makes
/// it (Target::make_tenancy).
class Tenancy : public std::enable_shared_from_this<Tenancy>, private Claim {
 public:
  Tenancy(const Tenancy&) = delete;
  Tenancy& operator=(const Tenancy&) = delete;

  wire::Owner owner() const;
  /// The number that the server has given to this grant, if the kind has such numbers.
  std::optional<std::int64_t> token() const {
    return granted_.grant() != nullptr ? granted_.grant()->token : std::nullopt;
  }
  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  const std::shared_ptr<Target>& target() const { return target_; }
  /// In which mode its owner has it, and how many permits.
  wire::Ask ask() const { return {mode_.load(std::memory_order_relaxed), granted_.permits()}; }
  milliseconds lease() const { return known(&HoldFsm::lease); }
  bool renewed() const { return known(&HoldFsm::renewed); }
  Acks acks() const HOLDFAST_NOT_GUARDED { return fsm_.acks(); }  // constant

  /// The claim that it began with.
  std::shared_ptr<Claim> first_claim() { return {shared_from_this(), static_cast<Claim*>(this)}; }
  /// Another claim, with a cap of its own; `era`: the current one for acks. Null: the lease does not fit these terms,
  /// or does not last long enough.
  std::shared_ptr<Claim> add_claim(const LeaseTerms& terms, const LossSignal::LostCallback& on_lost, TimePoint now,
                                   std::uint32_t era);

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
  /// set_shared() it does. end_share() undoes begin_share().
  void set_shared(TimePoint now);
  bool is_being_shared() const { return being_shared_.load(std::memory_order_relaxed); }
  /// The server does not have it as its owner's alone: if at all, it is shared.
  void on_no_longer_alone() { mode_.store(wire::Mode::shared, std::memory_order_relaxed); }
  void end_share() { being_shared_.store(false, std::memory_order_relaxed); }
  /// What was asked then is about this. What was sent before set_shared() was about a hold that the owner has alone.
  bool is_as_asked(TimePoint sent_at) const { return !is_being_shared() && sent_at > shared_at_; }

  HoldFsm::Extension begin_extension(TimePoint now, milliseconds length) {
    return let(&HoldFsm::begin_extension, now, length);
  }
  void on_extension_unanswered() { let(&HoldFsm::on_extension_unanswered); }

  // For the watchdog, on the loop.
  void on_reconnect(TimePoint now) { let(&HoldFsm::on_reconnect, now); }
  /// See HoldFsm. From any thread. True: the watchdog is to check it.
  bool on_doubt(TimePoint now) { return let(&HoldFsm::on_doubt, now); }
  bool begin_watch(TimePoint now, Duration early) { return let(&HoldFsm::begin_watch, now, early); }
  TimePoint due() const { return known(&HoldFsm::due); }
  bool steady() const { return known(&HoldFsm::steady); }
  Duration lateness(TimePoint now) const { return known(&HoldFsm::lateness, now); }
  /// The same, on the signal thread. True: it has just been lost, which is to be announced without any mutex.
  bool expire(TimePoint now);
  void drop_watches();

  /// An event, as HoldFsm decides. Whoever brings one that may end it, or make it suspect, does what follows:
  /// hold_events.cpp.
  template <class Result, class... Args>
  Result let(Result (HoldFsm::*event)(Args...), std::type_identity_t<Args>... args) {
    const base::Guard guard(mutex_);
    return (fsm_.*event)(args...);
  }
  /// Why it was lost, once it is.
  LossReason reason() const { return known(&HoldFsm::reason); }
  /// Ends one of the claims that have not ended, since it has. Null: there is none left.
  std::shared_ptr<Claim> take_claim() noexcept;

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

 protected:
  /// `grant`: null if the server has said no more than that it grants, as for most kinds. `on_lost` is that of the
  /// first claim.
  Tenancy(std::shared_ptr<Runtime> runtime, std::shared_ptr<Target> target, const wire::Owner& owner, wire::Ask ask,
          TimePoint sent_at, const LeaseTerms& terms, const LossSignal::LostCallback& on_lost,
          std::unique_ptr<const wire::Grant> grant = nullptr, std::uint32_t acked_era = 0);
  ~Tenancy() = default;

 private:
  friend class Claim;
  class LaterClaim;
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

  // Constant after construction.
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Target> target_;

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
