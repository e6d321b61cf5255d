// What one hold knows of itself: held, suspect or lost, until when, and when to look again. Pure; time is an input.
#pragma once

#include <cstdint>
#include <string>

#include <holdfast/outcome.hpp>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// held --renewal unanswered--> suspect --renewal answered--> held
/// held, suspect --deadline, "not yours", cap--> lost          held, suspect --release begun--> released
/// Of a tenancy, whoever has claims on it. Not thread-safe; Tenancy guards it.
class HoldFsm {
 public:
  /// `sent_at`: of the command that set the lease. `granted_at`: when it was granted.
  /// `acked_era`: as of that era (never 0) it has the acks that were asked for; 0: it has none.
  /// `watched`: its keys are to be watched if it lasts.
  enum class Watched { no, yes };
  HoldFsm(TimePoint sent_at, const LeaseTerms& terms, TimePoint granted_at, std::uint32_t acked_era = 0,
          Watched watched = Watched::no);

  enum class Todo {
    nothing,  // look again at due()
    renew,    // send a renewal; feed on_renewed / on_gone / on_unanswered
    lost,     // just became lost: tell the holder
  };
  enum class Change {
    none,
    suspect,  // just became suspect: tell the observer
    lost,     // just became lost: tell the holder
  };

  /// The time has come to look (not before due(), but looking early does no harm). With `early`, a renewal that is due
  /// within the batching window is taken along.
  Todo on_time(TimePoint now, Duration early = {});
  /// A renewal sent at `sent_at` was answered "extended".
  Change on_renewed(TimePoint sent_at, TimePoint now, std::uint32_t acked_era = 0);
  /// A fixed lease is set to this length, by a command that is sent from `now` on: answered or not, the hold ends no
  /// later than that lets it.
  void begin_extension(TimePoint now, milliseconds length);
  /// That command was answered "extended".
  Change on_extended(TimePoint sent_at, TimePoint now, milliseconds length, std::uint32_t acked_era);
  /// The server says that this owner does not have the lock.
  Change on_gone();
  /// A renewal failed, or its outcome is unknown: it extends nothing.
  Change on_unanswered(TimePoint now);
  /// The connection is new: ask at once whether the hold still stands.
  void on_reconnect(TimePoint now);
  /// Somebody says that the server does not have it. True: it is asked for at once, by a renewal; false: no renewal is
  /// to come that would tell.
  bool on_doubt(TimePoint now);
  /// Its server has been replaced by another one, of which it is not known whether it has the lock: as on_doubt, and
  /// suspect until that one has answered.
  Change on_moved(TimePoint now);
  /// True once: it has lasted so long that its keys are to be watched. With `early`, which is half of that at most, it
  /// is taken along with others.
  bool begin_watch(TimePoint now, Duration early);
  Change on_closed();
  /// From here on nothing is renewed. False if it was called before.
  bool begin_release();
  /// Renewed, and so sure that another caller of this client may have it next.
  bool may_be_passed_on(TimePoint now) const {
    return renewed_ && state_ == HoldState::held && valid_for(now) >= Duration(length_) / 2;
  }
  /// A caller with these terms may have it as it is; `era`: of the acks that count by now.
  bool fits(const LeaseTerms& terms, TimePoint now, std::uint32_t era) const;
  /// Whoever has it from `now` on has it for so long at most; empty: without such a limit.
  void set_cap(TimePoint now, std::optional<milliseconds> max_hold);
  /// The release has found that it was not ours any more.
  void on_release_found_none(TimePoint now);

  HoldState state() const { return state_; }
  LossReason reason() const { return reason_; }
  /// It was lost; known before its release, or from that.
  bool was_lost() const { return was_lost_; }
  bool ended() const { return state_ == HoldState::lost || state_ == HoldState::released; }
  TimePoint deadline() const;
  /// When on_time must be called next.
  TimePoint due() const { return to_be_watched_ ? std::min(due_, granted_at_ + watch_after(length_)) : due_; }
  /// How late a renewal sent now is, against its plan.
  Duration lateness(TimePoint now) const { return std::max(Duration{}, now - planned_); }
  Duration valid_for(TimePoint now) const;
  /// It is not in doubt, and so old that its keys are watched if any are: a renewal of it may go where they are.
  bool steady() const { return state_ == HoldState::held && !to_be_watched_ && length_ >= kShortestWatched; }
  /// As valid_for(), even if the primary fails now; `era`: of the acks that count by now.
  Duration durable_for(TimePoint now, std::uint32_t era) const {
    return acked_era_ == era ? valid_for(now) : Duration{};
  }
  Acks acks() const { return acks_; }
  std::uint32_t acked_era() const { return acked_era_; }
  milliseconds lease() const { return length_; }
  bool renewed() const { return renewed_; }
  /// Renewal goes on for as long as it works.
  bool endless() const { return renewed_ && !capped(); }
  bool capped() const { return cap_at_ != TimePoint::max(); }
  TimePoint granted_at() const { return granted_at_; }
  TimePoint last_extension() const { return last_extension_; }

 private:
  void extend(TimePoint sent_at);
  Change lose(LossReason reason);
  LossReason why_expired() const;
  bool outlives_cap() const;

  // There may be millions: no larger than it must be.
  milliseconds length_;
  TimePoint granted_at_;
  TimePoint cap_at_;  // max(): none
  TimePoint due_{};
  TimePoint planned_{};
  TimePoint last_extension_{};
  std::uint32_t acked_era_;
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
