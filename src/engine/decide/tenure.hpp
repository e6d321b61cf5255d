// How long one client may keep a lock among its own callers before others get their chance, as pure decisions.
#pragma once

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// A tenure begins when the server grants the lock after others had a chance to take it, and lasts `limit`. Within it,
/// callers pass the lock on inside the process, and the lock may be taken again at once after a release. After it, a
/// release that somebody else has heard is followed by a pause, so that they can come first. (Lock cohorting: Dice,
/// Marathe, Shavit, "Lock Cohorting", 2012; here bounded by time.) Not thread-safe; the target guards it.
class Tenure {
 public:
  /// Zero: every release goes to the server, and nobody pauses.
  explicit Tenure(Duration limit) : limit_(limit) {}

  /// A client of another library has it. Those keep no order and may be slower, so for a while each turn of theirs is
  /// answered by no more than one of ours: what is released to the server is not taken again at once.
  void on_stranger(TimePoint now) { strangers_until_ = now + kStrangers; }
  bool strangers(TimePoint now) const { return now < strangers_until_; }

  /// The server has granted it.
  void on_granted(TimePoint sent_at);
  /// Somebody else has it, or has just released it.
  void on_other();
  /// The server said, when it granted it together with others, that so many listen who are not of this target.
  void on_listeners(int others) { others_ = others; }
  /// The server has released it, and told `others` who are not of this target.
  void on_released(TimePoint now, int others);

  /// A release may pass it on to a caller who waits here.
  bool may_pass(TimePoint now) const { return now < began_ + limit_; }
  /// A caller who has just come may take what is on its way to one who waits, to save the time in which nobody works.
  /// At most for a millisecond, then the one who waits is served.
  bool may_overtake(TimePoint now) const { return now < queue_served_ + kOvertaking; }
  /// The one who waited longest got it.
  void on_queue_served(TimePoint now) { queue_served_ = now; }

  /// The tenure is over, and others were there at the last release: ask again only when this release has been told.
  bool must_ask_after_release(TimePoint now) const {
    return others_ > 0 && (!may_pass(now) || strangers(now)) && skip_ == 0;
  }
  /// Shared by callers here one after another it would never be free: those who come now do not join any more.
  bool must_end(TimePoint now) const { return others_ > 0 && !may_pass(now); }
  /// They wait so long for those who share it to leave, which lets others come first. Then they ask the server: it may
  /// be that those who share it stay, and that the others only want to share it as well.
  TimePoint hold_back_until() const { return began_ + limit_ + kHoldBack; }
  /// How many others were there at the last release, or at a grant since then.
  int others() const { return others_; }
  /// Nobody here asks before this.
  TimePoint pause_until() const { return pause_until_; }

 private:
  static constexpr Duration kOvertaking = milliseconds(1);
  /// A waiter elsewhere hears of a release and asks within this, as a rule.
  static constexpr Duration kPause = milliseconds(3);
  /// And within this where it is slow, or one of very many on a busy machine.
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
  bool chance_given_ = true;  // since the tenure began, others could have taken it
  bool paused_ = false;       // the latest pause; nobody has been seen to use it
  Duration pause_ = kPause;
  int skip_ = 0;  // pauses to be left out, since the latest ones were in vain
  int next_skip_ = 1;
};

}  // namespace holdfast::engine
