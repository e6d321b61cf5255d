// SPDX-License-Identifier: Apache-2.0
// The one acquire loop of the library, as a pure state machine: events and times in, actions out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include <holdfast/error.hpp>

#include "lock/decide/attempt.hpp"
#include "lock/decide/lease.hpp"

namespace holdfast::engine {

/// A waiter's estimated place among the clients waiting for a lock, and when it asks, as pure decisions. A release is
/// published to all waiters, and the first to ask gets the lock. The server keeps no queue, so each waiter estimates
/// its place: the number of waiters when it came, minus the turns that have passed since. A waiter whose turn it is
/// asks almost at once. The others leave those ahead of them time to ask, so that waiting longer never means asking
/// later. Those far back ask at random, few at first and then ever more. The first few of them that find it busy
/// publish that, and the rest wait for the next release: so a crowd costs a few scripts, and yet all of it asks within
/// longest() after a release, but for those who hear that somebody has the lock.
class Place {
 public:
  /// The delay per place near the front; far longer than a message takes to reach all clients.
  static constexpr Duration kStep = std::chrono::microseconds(300);
  /// The same if clients of other libraries also wait: a JVM takes this long from a message to its attempt.
  static constexpr Duration kStrangersStep = std::chrono::microseconds(1500);
  /// How many places count as near. A waiter farther back asks only if releases stop coming at their usual rate, since
  /// asking just when the lock is released would get ahead of those whose turn it is.
  static constexpr int kNear = 8;
  static constexpr Duration kLongestPause = milliseconds(12);
  /// In how long all those far back have asked, for each of them, unless they hear that the lock is busy.
  static constexpr Duration kSpreadEach = std::chrono::microseconds(250);
  /// So many of them are expected to do so in the first half of that time, and publish what they find: a message takes
  /// a while to reach the others.
  static constexpr int kScouts = 3;
  /// A message to more than this many takes so long that they all wait longer, in proportion.
  static constexpr int kQuickCrowd = 600;
  /// From this many others on it is a crowd. A message takes a while to reach all of it, so fewer count as near, each
  /// further behind the one ahead. A waiter far back that finds the lock busy has that published.
  static constexpr int kCrowd = 16;
  static constexpr int kNearInCrowd = 3;
  static constexpr Duration kStepEach = std::chrono::microseconds(1);  ///< For each of the others.
  static constexpr Duration kLongestStep = milliseconds(3);
  /// In a crowd, a safety poll waits for this long, times the number of others: a hundred a second, all together.
  static constexpr Duration kPollEach = milliseconds(13);
  /// A waiter overdue by this many turns does not delay at all; one that is just due delays this many small steps.
  static constexpr int kOverdue = 4;
  static constexpr Duration kSmallStep = std::chrono::microseconds(20);
  /// The longest delay, up to kQuickCrowd: so long is the lock idle at most if all waiters ahead are gone.
  static constexpr Duration kLongest = milliseconds(48);
  static Duration longest(int others) { return for_crowd(kLongest, others); }
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  /// `turn`: releases in faster succession are from one client (Tenure). `chance`: in [0, 1).
  Place(Duration turn, double chance) : turn_(turn), chance_(chance) {}

  bool known() const { return ahead_ >= 0; }
  /// Takes the number of other waiters. The first one says how many are ahead; later ones limit that.
  void found(std::int64_t others);
  /// There are others, but their number is unknown: counts as near, with a random delay that shrinks each time.
  void guess();
  void on_release(TimePoint now);

  /// The delay from a release to the next attempt. `limit`: at most this many were ahead. `strangers`: some may use
  /// another library, and be slower.
  Duration delay(int limit, bool strangers);
  bool in_crowd() const { return others_ >= kCrowd; }
  /// Far back in a crowd.
  bool far(int limit) const { return in_crowd() && std::min(ahead_, limit) - turns_ > kNearInCrowd; }
  /// By the latest delay it is one of the first of those to ask, and is to publish what it finds.
  bool is_scout() const { return scout_; }
  /// The shortest pause between safety polls.
  Duration poll_pause() const { return in_crowd() ? others_ * kPollEach : Duration{}; }
  /// How many turns have passed since the place was found.
  int turns() const { return turns_; }
  int ahead() const { return ahead_; }

 private:
  /// The same of a crowd to which a message takes long.
  static Duration for_crowd(Duration time, int others) { return std::max(others, kQuickCrowd) * time / kQuickCrowd; }
  int near() const { return in_crowd() ? kNearInCrowd : kNear; }
  Duration step(bool strangers) const;
  /// Of `longest`: when one far back asks, by chance.
  Duration far_delay(Duration longest, int crowd);

  const Duration turn_;
  double chance_;
  int ahead_ = -1;
  int others_ = 0;  // as found last
  int turns_ = 0;
  bool guessed_ = false;
  bool scout_ = false;
  TimePoint turn_ends_{};
  TimePoint released_at_{};
  Duration between_ = kLongestPause;  // between the two latest releases
};

/// What a client learns from its waits for one lock: not every listener wants it, so a place may be much better than it
/// seems.
class PlaceLimit {
 public:
  /// A wait has ended.
  void on_end(const Place& place);
  int limit() const { return turns_ == Place::kNoLimit ? Place::kNoLimit : 2 * turns_ + 2; }

 private:
  int turns_ = Place::kNoLimit;  // waited recently
};

// How long a waiter sleeps between two attempts if it may not be notified of releases, as pure decisions.

struct PollTerms {
  Duration first{};    ///< The first sleep; each one is `multiplier` times the one before, ...
  Duration longest{};  ///< ... up to this.
  int multiplier = 2;
  /// The jitter, so that waiters do not ask in step. `half`: half of each sleep is random. `added`: the k-th gets up to
  /// k - 1 ms more, which also multiply: Redisson's ExponentialBackOff.
  enum class Spread { half, added } spread = Spread::half;
};

/// Half of it fixed, the other half random.
inline Duration half_by_chance(Duration longest, double chance) {
  const auto half = longest / 2;
  return half + std::chrono::duration_cast<Duration>(half * chance);
}

/// One wait's: its terms and its chance, in [0, 1), are the same each time.
class Poll {
 public:
  Duration next(const PollTerms& terms, double chance) {
    const Duration now = next_ == Duration{} ? std::min(terms.first, terms.longest) : next_;
    Duration added{};
    if (terms.spread == PollTerms::Spread::added) {
      added = std::chrono::duration_cast<Duration>(std::chrono::milliseconds(grown_) * chance);
      ++grown_;
    }
    // `longest` may be up to ten years, and multiplying it would overflow.
    next_ = now >= terms.longest / terms.multiplier ? terms.longest
                                                    : std::min(now * terms.multiplier + added, terms.longest);
    return terms.spread == PollTerms::Spread::half ? half_by_chance(now, chance) : now;
  }

 private:
  Duration next_{};  // zero: there was none yet
  int grown_ = 0;    // ms that chance may add to the next one
};

/// The parameters of an acquire; durations and limits are decided before it starts. Whatever the server does, the call
/// ends after `command_timeout` with `once`; otherwise when `wait` is over, or when trouble has lasted for `patience`
/// (or one command, if that takes longer), counted from the start of the first attempt that met it.
struct AcquireTerms {
  std::optional<Duration> wait{};  ///< Limit on waiting; empty: none.
  Duration command_timeout{};
  Duration patience{};
  Duration safety_poll{};
  Duration turn{};  ///< How long one client may keep taking the lock (Tenure).
  /// Set if not every release is published: how often to poll.
  std::optional<PollTerms> poll{};
  double jitter = 0;         ///< In [0, 1): how much of the half safety poll is added to the other half.
  bool once = false;         ///< Try once, do not wait for the lock.
  bool listens = true;       ///< It subscribes before it waits. If not, releases are not published.
  bool own_channel = false;  ///< A message is only for this waiter, and means that it is its turn.
};

/// What the target knows when the machine decides.
struct TargetView {
  bool held_here = false;             ///< A caller of this client holds it, so the server need not be asked.
  bool subscribed = false;            ///< The wake channel is subscribed.
  TimePoint not_before{};             ///< Until then others come first; `max()`: until a wake-up.
  int others = 0;                     ///< How many others were notified of this client's latest release.
  bool strangers = false;             ///< Clients of other libraries, which keep no order, also take it.
  int place_limit = Place::kNoLimit;  ///< At most this many are ahead (PlaceLimit).
  TimePoint busy_until{};             ///< Since the latest release somebody has published that it is busy for so long.
};

struct AcquireAction {
  enum class Kind {
    wait_turn,  // stay in the target's queue until `until`; feed on_turn at its head, else on_time
    attempt,    // send the acquire (with SUBSCRIBE before it if `subscribe`), `timeout`; feed on_attempt
    wait,       // sleep until `until`, a wake or a message; feed on_wake, on_message or on_time
    pause,      // sleep until `until`, ignoring wake-ups; feed on_time
    finish,     // leave the queue; `error` empty: granted
  };
  Kind kind = Kind::finish;
  TimePoint until{};
  Duration timeout{};
  bool subscribe = false;
  bool publish_busy = false;  // attempt: if it is busy, all who listen are to know that
  bool undo = false;          // finish: a compensating release is needed, an attempt's outcome is unknown
  std::error_code error{};
  std::string cause{};
  std::optional<bool> may_pass{};  // see Error::may_pass; empty: as usual for `error`
};

/// Start -> (wait_turn) -> attempt -> busy -> attempt with subscription -> wait -> attempt ... -> finish.
/// Any time: on_stop ends it. If it ends during an attempt, the shell undoes that attempt when its reply comes. Every
/// wait is bounded: by the lease's end, the safety poll, the limit, or the end of another local hold.
class AcquireFsm {
 public:
  AcquireFsm(AcquireTerms terms, TimePoint now);

  AcquireAction start() const;
  AcquireAction on_turn(TimePoint now, TargetView view);
  AcquireAction on_attempt(TimePoint now, const Attempt& reply);
  AcquireAction on_wake(TimePoint now, TargetView view);
  /// A release elsewhere was published. If to all waiters, the one that has waited longest asks at once, the others a
  /// little later (Place), and only once if another release is published meanwhile. If to this waiter alone, it asks at
  /// once.
  AcquireAction on_message(TimePoint now, TargetView view);
  /// It sleeps after a release, to leave others time to ask.
  bool lets_others_ask() const { return bound_ == Bound::spread; }
  /// Somebody else has published that it is busy, while this one lets others ask: it need not ask itself.
  AcquireAction on_busy(TimePoint now, TargetView view) { return wait_free(now, view.busy_until); }
  AcquireAction on_time(TimePoint now, TargetView view);
  AcquireAction on_stop(std::error_code why) const;

  /// An attempt's outcome is unknown: it must be repeated by the same owner, or undone.
  bool unresolved() const { return unresolved_; }
  /// The earliest moment since which it may have been granted: when the first attempt that has no answer was made.
  TimePoint perhaps_since() const { return trouble_since_.value_or(asked_at_); }
  bool contended() const { return contended_; }
  bool asks_once() const { return terms_.once; }
  const Place& place() const { return place_; }
  /// It would have the lock if the required acks had come, and tries again.
  bool lacks_acks() const;
  /// Why it has to wait, as far as is known.
  std::string busy_cause() const { return held_here_ ? kHeldByThisProcess : lacks_acks() ? last_cause_ : busy_cause_; }
  /// True if the current or last attempt was made only because no message came for a while.
  bool safety_polling() const { return safety_polling_; }

 private:
  enum class Bound : std::uint8_t { limit, lease_end, safety_poll, poll, local_hold, others_first, spread, pause };

  AcquireAction attempt(TimePoint now, bool subscribe);
  AcquireAction go_on(TimePoint now, TargetView view);
  AcquireAction wait_until(TimePoint until, Bound bound);
  AcquireAction wait_busy(TimePoint now, const Attempt& reply);
  /// Until it is free, as far as is known, or the next poll.
  AcquireAction wait_free(TimePoint now, TimePoint free);
  AcquireAction on_trouble(TimePoint now, const Attempt& reply);
  AcquireAction end_of_trouble(TimePoint now) const;
  /// Not granted: `usual`, unless no release can end the wait.
  AcquireAction in_vain(Errc usual) const;
  AcquireAction finish(std::error_code error, std::string cause = {}, std::optional<bool> may_pass = {}) const;
  AcquireAction finish_as(const Attempt& reply) const { return finish(reply.error, reply.cause, reply.may_pass); }
  TimePoint limit() const;
  TimePoint give_up() const;

  const AcquireTerms terms_;
  const TimePoint started_;
  Bound bound_ = Bound::limit;
  bool contended_ = false;
  bool taken_ = false;       // somebody else has been seen to hold it
  bool held_here_ = false;   // by another caller of this client, when that was seen last
  bool unresolved_ = false;  // an attempt's outcome is unknown
  bool safety_polling_ = false;
  std::optional<bool> last_may_pass_;
  Errc never_{};  // why no release can end the wait; zero: one can
  int races_lost_ = 0;
  int troubles_ = 0;
  Poll poll_;
  Place place_;
  std::string busy_cause_;  // as the server's answer has it
  TimePoint asked_at_{};    // when the latest attempt began
  std::optional<TimePoint> trouble_since_;
  std::error_code last_error_;
  std::string last_cause_;
};

}  // namespace holdfast::engine
