// The one acquire loop of the library, as a pure state machine: events and times in, actions out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "engine/decide/attempt.hpp"
#include "engine/decide/place.hpp"
#include "engine/decide/poll.hpp"

namespace holdfast::engine {

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
  bool undo = false;  // finish: a compensating release is needed, an attempt's outcome is unknown
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
  AcquireAction on_time(TimePoint now, TargetView view);
  AcquireAction on_stop(std::error_code why) const;

  /// An attempt's outcome is unknown: it must be repeated by the same owner, or undone.
  bool unresolved() const { return unresolved_; }
  /// The earliest moment since which it may have been granted: when the first attempt that has no answer was made.
  TimePoint perhaps_since() const { return trouble_since_.value_or(asked_at_); }
  bool contended() const { return contended_; }
  bool asks_once() const { return terms_.once; }
  const Place& place() const { return place_; }
  /// True if the current or last attempt was made only because no message came for a while.
  bool safety_polling() const { return safety_polling_; }

 private:
  enum class Bound : std::uint8_t { limit, lease_end, safety_poll, poll, local_hold, others_first, spread, pause };

  AcquireAction attempt(TimePoint now, bool subscribe);
  AcquireAction go_on(TimePoint now, TargetView view);
  AcquireAction wait_until(TimePoint until, Bound bound);
  AcquireAction wait_busy(TimePoint now, const Attempt& reply);
  AcquireAction on_trouble(TimePoint now, const Attempt& reply);
  AcquireAction end_of_trouble(TimePoint now) const;
  AcquireAction finish(std::error_code error, std::string cause = {}, std::optional<bool> may_pass = {}) const;
  AcquireAction finish_as(const Attempt& reply) const { return finish(reply.error, reply.cause, reply.may_pass); }
  TimePoint limit() const;
  TimePoint give_up() const;

  const AcquireTerms terms_;
  const TimePoint started_;
  Bound bound_ = Bound::limit;
  bool contended_ = false;
  bool taken_ = false;       // somebody else has been seen to hold it
  bool unresolved_ = false;  // an attempt's outcome is unknown
  bool safety_polling_ = false;
  std::optional<bool> last_may_pass_;
  int races_lost_ = 0;
  int troubles_ = 0;
  Poll poll_;
  Place place_;
  std::string busy_cause_;
  TimePoint asked_at_{};  // when the latest attempt began
  std::optional<TimePoint> trouble_since_;
  std::error_code last_error_;
  std::string last_cause_;
};

}  // namespace holdfast::engine
