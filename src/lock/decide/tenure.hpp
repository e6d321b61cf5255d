// SPDX-License-Identifier: Apache-2.0
// Whose turn it is where several clients want a lock: what crosses a release, and how long one client may keep the lock
// among its own callers. Pure; time is an input.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lock/decide/lease.hpp"

namespace holdfast::engine {

/// Messages and attempts that cross pending releases of one lock, as pure decisions. For one client. Not thread-safe;
/// the target guards it.
class ReleaseTraffic {
 public:
  bool any() const { return under_way_ > 0; }

  /// A release is sent. `goes_first`: this client does not ask before the outcome, if that comes soon.
  void begin(bool goes_first) {
    ++under_way_;
    goes_first_ = goes_first ? 1 : 0;
  }
  bool goes_first() const { return any() && goes_first_ == 1; }

  /// A message arrived. Those of our own releases, `each` per release, arrive before their replies, or are passed here
  /// with these. Whether this was one of them is only known from the reply. False: it was not.
  bool may_be_own(std::size_t each) {
    if (unclaimed_ >= under_way_ * each) return false;
    ++unclaimed_;
    return true;
  }
  /// An attempt found the lock taken, perhaps by a hold that is just being released. False: not so.
  bool overtakes() {
    if (any()) overtaken_ = 1;
    return any();
  }

  struct End {
    bool ask_again = false;  // what attempts found meanwhile may be outdated
    bool others = false;     // a message that arrived meanwhile was not our own
  };
  /// One release has an outcome, or was given up; `released`: by us.
  End end(bool released) {
    --under_way_;
    End end{overtaken_ == 1 || goes_first_ == 1, !any() && unclaimed_ > 0 && !released};
    overtaken_ = 0;
    if (!any()) unclaimed_ = 0;
    return end;
  }

 private:
  // There may be millions: no larger than it must be.
  std::uint32_t under_way_ = 0;
  std::uint32_t unclaimed_ : 30 = 0;  // messages meanwhile that may be our releases' own
  std::uint32_t overtaken_ : 1 = 0;   // an attempt reached the server before our release
  std::uint32_t goes_first_ : 1 = 0;  // the latest release
};

/// A tenure begins when the server grants the lock after others had a chance to take it, and lasts `limit`. Within it,
/// callers pass the lock on inside the process, and the lock may be taken again at once after a release. After it, a
/// release that others have received is followed by a pause, so that they can come first. (Lock cohorting: Dice,
/// Marathe, Shavit, "Lock Cohorting", 2012; here bounded by time.) Not thread-safe; the target guards it.
class Tenure {
 public:
  /// Zero: every release goes to the server, and nobody pauses.
  explicit Tenure(Duration limit) : limit_(limit) {}

  /// A client of another library has it. Those keep no order and may be slower, so for a while we take at most one turn
  /// for each of theirs: after a release at the server we do not retake it at once.
  void on_stranger(TimePoint now) { strangers_until_ = now + kStrangers; }
  bool strangers(TimePoint now) const { return now < strangers_until_; }

  /// The server has granted it.
  void on_granted(TimePoint sent_at);
  /// Somebody else has it, or has just released it.
  void on_other();
  /// With a shared grant the server reported this many listeners beyond this target's.
  void on_listeners(int others) { others_ = others; }
  /// The server has released it, and notified `others` beyond this target's.
  void on_released(TimePoint now, int others);

  /// A release may pass it on to a waiting caller of this client.
  bool may_pass(TimePoint now) const { return now < began_ + limit_; }
  /// A newly arrived caller may take a hold that is being passed to a waiter, to avoid idle time. At most for a
  /// millisecond, then the waiter is served.
  bool may_overtake(TimePoint now) const { return now < queue_served_ + kOvertaking; }
  /// The longest waiter got it.
  void on_queue_served(TimePoint now) { queue_served_ = now; }

  /// The tenure is over, and others were there at the last release: ask again only after this release is confirmed.
  bool must_ask_after_release(TimePoint now) const {
    return others_ > 0 && (!may_pass(now) || strangers(now)) && skip_ == 0;
  }
  /// If callers kept joining a shared hold it would never be free: new ones no longer join.
  bool must_end(TimePoint now) const { return others_ > 0 && !may_pass(now); }
  /// New callers wait until then for the sharers to leave, which lets others come first. Then they ask the server,
  /// since the sharers may stay, and the others may only want to share as well.
  TimePoint hold_back_until() const { return began_ + limit_ + kHoldBack; }
  /// How many others were there at the last release, or at a grant since then.
  int others() const { return others_; }
  /// This client does not ask before this.
  TimePoint pause_until() const { return pause_until_; }

 private:
  static constexpr Duration kOvertaking = milliseconds(1);
  /// A waiter elsewhere usually receives a release and asks within this time.
  static constexpr Duration kPause = milliseconds(3);
  /// The same for a slow waiter, or one of very many on a busy machine.
  static constexpr Duration kLongestPause = milliseconds(24);
  static constexpr Duration kHoldBack = milliseconds(100);
  static constexpr int kMostSkipped = 64;
  static constexpr Duration kStrangers = std::chrono::seconds(10);

  const Duration limit_;
  TimePoint began_{};
  TimePoint released_at_{};
  TimePoint queue_served_{};
  TimePoint pause_until_{};
  TimePoint strangers_until_{};
  int others_ = 0;
  bool chance_given_ = true;  // others have had a chance since the tenure began
  bool paused_ = false;       // the latest pause was apparently not used by others
  Duration pause_ = kPause;
  int skip_ = 0;  // pauses to skip, since the latest ones were not used
  int next_skip_ = 1;
};

}  // namespace holdfast::engine
