// SPDX-License-Identifier: Apache-2.0
// The state of one hold: held, suspect or lost, until when, and when to check again. Pure; time is an input.
#pragma once

#include <cstdint>
#include <string>

#include <holdfast/error.hpp>

#include "lock/decide/lease.hpp"

namespace holdfast::engine {

/// held --renewal unanswered--> suspect --renewal answered--> held
/// held, suspect --deadline, "not yours", cap--> lost          held, suspect --release begun--> released
/// Belongs to a tenancy, whatever claims there are on it. Not thread-safe; Tenancy guards it.
class HoldFsm {
 public:
  /// `sent_at`: of the command that set the lease. `granted_at`: when it was granted.
  /// `acked_era`: the era (never 0) in which it got the required acks; 0: none.
  /// `watched`: its keys will be watched if it lasts.
  enum class Watched { no, yes };
  HoldFsm(TimePoint sent_at, const LeaseTerms& terms, TimePoint granted_at, std::uint32_t acked_era = 0,
          Watched watched = Watched::no);

  enum class Todo {
    nothing,  // check again at due()
    renew,    // send a renewal; feed on_renewed / on_gone / on_unanswered
    lost,     // just became lost: notify the holder
  };
  enum class Change {
    none,
    suspect,  // just became suspect: notify the observer
    lost,     // just became lost: notify the holder
  };

  /// Checks the hold (call it at due(); earlier does no harm). With `early`, a renewal that is due within the batching
  /// window is included.
  Todo on_time(TimePoint now, Duration early = {});
  /// A renewal sent at `sent_at` was answered "extended".
  Change on_renewed(TimePoint sent_at, TimePoint now, std::uint32_t acked_era = 0);
  /// A command that sets the lease, apart from renewals.
  struct Extension {
    std::uint16_t number = 0;
    milliseconds length{};
  };
  /// A command sent from `now` on sets the lease to this length: whether answered or not, the hold ends no later than
  /// that allows.
  Extension begin_extension(TimePoint now, milliseconds length);
  /// That command was answered "extended". The hold ends no later than those allow that the server may execute behind
  /// it.
  Change on_extended(const Extension& extension, TimePoint sent_at, TimePoint now, std::uint32_t acked_era);
  /// Nobody knows what became of such a command. The server executes it before those that are begun from now on, or
  /// never.
  void on_extension_unanswered() { --under_way_; }
  /// The server says that this owner does not have the lock.
  Change on_gone();
  /// A renewal failed, or its outcome is unknown: the lease is not extended.
  Change on_unanswered(TimePoint now);
  /// There is a new connection: check at once whether the hold still stands.
  void on_reconnect(TimePoint now);
  /// A notice says that the server may have lost it. True: a renewal checks this at once; false: no renewal will come
  /// that could check it.
  bool on_doubt(TimePoint now);
  /// Its server has been replaced by another, which may not have the lock: as on_doubt, and suspect until that one has
  /// answered.
  Change on_moved(TimePoint now);
  /// True once: it is old enough for its keys to be watched. With `early`, at most half of that age, it is included
  /// with others.
  bool begin_watch(TimePoint now, Duration early);
  Change on_closed();
  /// From here on nothing is renewed. False if it was called before.
  bool begin_release();
  /// True if it is renewed and certain enough to pass on to another caller of this client.
  bool may_be_passed_on(TimePoint now) const {
    return renewed_ && state_ == HoldState::held && valid_for(now) >= Duration(length_) / 2;
  }
  /// True if a caller with these terms may take it as it is; `era`: the current one for acks.
  bool fits(const LeaseTerms& terms, TimePoint now, std::uint32_t era) const;
  /// Caps the hold, counted from `now`; empty: no cap.
  void set_cap(TimePoint now, std::optional<milliseconds> max_hold);
  /// The release found that it was no longer ours.
  void on_release_found_none(TimePoint now);

  HoldState state() const { return state_; }
  LossReason reason() const { return reason_; }
  /// It was lost, noticed before or by its release.
  bool was_lost() const { return was_lost_; }
  bool ended() const { return state_ == HoldState::lost || state_ == HoldState::released; }
  TimePoint deadline() const;
  /// When on_time must be called next.
  TimePoint due() const {
    const TimePoint due = to_be_renewed() ? renewal_due() : deadline();
    return to_be_watched_ ? std::min(due, granted_at_ + watch_after(length_)) : due;
  }
  /// How late a renewal sent now is, compared with the plan.
  Duration lateness(TimePoint now) const { return std::max(Duration{}, now - planned_); }
  Duration valid_for(TimePoint now) const;
  /// Not in doubt, and old enough that its keys are watched if any are, so it may be renewed on the watch connection.
  bool steady() const { return state_ == HoldState::held && !to_be_watched_ && length_ >= kShortestWatched; }
  /// As valid_for(), even if the primary fails now; `era`: the current one for acks.
  Duration durable_for(TimePoint now, std::uint32_t era) const {
    return acked_era_ == era ? valid_for(now) : Duration{};
  }
  Acks acks() const { return acks_; }
  std::uint32_t acked_era() const { return acked_era_; }
  milliseconds lease() const { return length_; }
  /// The server may have a longer one, if an extension was not answered, but none longer than this.
  milliseconds longest_lease() const { return longest_; }
  bool renewed() const { return renewed_; }
  /// It has no end as long as renewals succeed.
  bool endless() const { return renewed_ && !capped(); }
  bool capped() const { return cap_at_ != TimePoint::max(); }
  TimePoint granted_at() const { return granted_at_; }
  TimePoint last_extension() const { return last_extension_; }

 private:
  void extend(TimePoint sent_at);
  Change lose(LossReason reason);
  LossReason why_expired() const;
  bool outlives_cap() const;
  /// No renewal is needed when the lease already outlives the cap.
  bool to_be_renewed() const { return renewed_ && !in_flight_ && !outlives_cap(); }
  TimePoint renewal_due() const { return std::min(planned_, deadline()); }

  // There may be millions: no larger than it must be.
  milliseconds length_;
  milliseconds longest_;   // that the server may have
  milliseconds shortest_;  // of the extensions begun since none was under way
  TimePoint granted_at_;
  TimePoint cap_at_;     // max(): none
  TimePoint planned_{};  // the next renewal
  TimePoint last_extension_{};
  std::uint32_t acked_era_;
  std::uint16_t begun_ = 0;      // extensions, counted round and round: the number of the latest
  std::uint16_t under_way_ = 0;  // of them
  Acks acks_;
  bool renewed_ : 1;
  bool in_flight_ : 1 = false;
  bool released_ : 1 = false;
  bool was_lost_ : 1 = false;
  bool to_be_watched_ : 1;
  HoldState state_ : 3 = HoldState::held;
  LossReason reason_ = LossReason::expired;
};

}  // namespace holdfast::engine
