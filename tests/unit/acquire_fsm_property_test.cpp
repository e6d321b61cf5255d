// SPDX-License-Identifier: Apache-2.0
// What must hold of every acquire, whatever happens to it: thousands of random histories, each from its own seed.
#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "acquire_story.hpp"

namespace holdfast::engine::acquire_fsm_property_test {
namespace {

using Kind = AcquireAction::Kind;

constexpr Duration kLongestPause = 640ms;
constexpr Duration kExpiryRounding = 2ms;
constexpr Duration kShortestTimeout = 50ms;

/// Lives through one random acquire and compares every action with a plain reckoning of what has happened so far.
class History {
 public:
  explicit History(unsigned seed) : random_(seed), terms_(random_terms()), fsm_(terms_, now_) {}

  void live() {
    AcquireAction action = fsm_.start();
    check(action);
    for (int step = 0; action.kind != Kind::finish && broken_.empty(); ++step) {
      must(step < 2000, "it ends");
      action = answer(action);
      told_ += "  " + text(now_) + "  " + event_ + "  ->  " + text(action) + "\n";
      check(action);
    }
  }

  /// The first promise that was broken; empty if all were kept.
  const std::string& broken() const { return broken_; }
  const std::string& told() const { return told_; }

 private:
  // --- chance ---

  std::size_t dice(std::size_t sides) { return random_() % sides; }
  bool chance(std::size_t percent) { return dice(100) < percent; }
  Duration between(Duration low, Duration high) {
    return low + Duration(std::uniform_int_distribution<Duration::rep>(0, (high - low).count())(random_));
  }

  AcquireTerms random_terms() {
    AcquireTerms terms;
    terms.once = chance(20);
    if (!terms.once && chance(60)) terms.wait = between(1ms, 20s);
    terms.command_timeout = between(1ms, 3s);
    terms.patience = chance(10) ? 0ms : between(0ms, 15s);
    terms.safety_poll = between(1ms, 4s);
    terms.jitter = static_cast<double>(dice(1000)) / 1000;
    // A server that is mostly busy, mostly in trouble, or anything.
    trouble_percent_ = 20 + 30 * dice(3);
    told_ = "  once=" + std::to_string(terms.once) + " wait=" + (terms.wait ? text(*terms.wait) : "none") +
            " command_timeout=" + text(terms.command_timeout) + " patience=" + text(terms.patience) +
            " safety_poll=" + text(terms.safety_poll) + " jitter=" + std::to_string(terms.jitter) + "\n";
    return terms;
  }

  TargetView random_view() { return {.held_here = chance(10), .subscribed = chance(70)}; }

  Attempt random_reply(bool subscribe) {
    Attempt reply;
    const bool trouble = chance(trouble_percent_);
    if (!trouble) {
      if (chance(5)) return refused(Errc::wrong_type, "WRONGTYPE");
      if (chance(10)) return granted();
      reply = chance(10) ? busy(-1ms) : busy(milliseconds(dice(chance(50) ? 100 : 10000)));
      reply.subscribed = subscribe || view_.subscribed;
      // The connection may have been renewed between the look and the send.
      if (!subscribe && chance(10)) reply.subscribed = !reply.subscribed;
      return reply;
    }
    switch (dice(8)) {
      case 0:
        return chance(10) ? pointless(Errc::denied, "WRONGPASS") : not_sent("refused");
      case 1:
      case 2:
        return transient("LOADING");
      case 3:
      case 4:
        return not_sent("refused");
      default:
        reply = unknown("no reply");
        if (chance(3)) reply.error = Errc::denied;
        return reply;
    }
  }

  // --- the shell ---

  AcquireAction answer(const AcquireAction& action) {
    last_ = action;
    if (chance(1)) {
      event_ = "stop";
      stopped_ = true;
      return fsm_.on_stop(Errc::cancelled);
    }
    if (action.kind == Kind::attempt) return answer_attempt(action);
    view_ = random_view();
    seen_taken_ = seen_taken_ || view_.held_here;
    if (view_.held_here) trouble_since_.reset();
    const bool for_turn = action.kind == Kind::wait_turn;
    // Without an end, only a turn or a wake can end it.
    const bool called = action.until == TimePoint::max() || chance(40);
    if (called) {
      const Duration most =
          action.until == TimePoint::max() ? Duration(10s) : std::max<Duration>(action.until - now_, 0s);
      now_ += between(0s, most);
      event_ = std::string(for_turn ? "turn" : "wake") + words(view_);
      return for_turn ? fsm_.on_turn(now_, view_) : fsm_.on_wake(now_, view_);
    }
    // Never early, sometimes late: a busy machine.
    now_ = std::max(now_, action.until) + (chance(10) ? between(0s, 3s) : between(0s, 1ms));
    event_ = "time" + words(view_);
    return fsm_.on_time(now_, view_);
  }

  AcquireAction answer_attempt(const AcquireAction& action) {
    const Attempt reply = random_reply(action.subscribe);
    asked_at_ = now_;
    now_ += chance(50) ? between(0s, 1ms) : between(0s, action.timeout);
    event_ = "reply " + std::to_string(static_cast<int>(reply.kind));
    last_reply_ = reply;
    reckon(reply);
    return fsm_.on_attempt(now_, reply);
  }

  static std::string words(TargetView view) {
    return std::string(view.held_here ? " held_here" : "") + (view.subscribed ? " subscribed" : "");
  }

  void reckon(const Attempt& reply) {
    if (reply.kind == Attempt::Kind::unknown) unresolved_ = true;
    if (reply.kind == Attempt::Kind::busy) {
      unresolved_ = false;
      seen_busy_ = seen_taken_ = true;
      trouble_since_.reset();
    } else if (reply.kind != Attempt::Kind::granted && reply.kind != Attempt::Kind::refused && !trouble_since_) {
      trouble_since_ = asked_at_;
    }
  }

  // --- what must hold ---

  bool after_reply() const { return last_.kind == Kind::attempt && !stopped_; }
  bool held_here() const { return !after_reply() && view_.held_here; }
  TimePoint limit() const {
    if (terms_.once) return kStart;
    return terms_.wait ? kStart + *terms_.wait : TimePoint::max();
  }

  void must(bool holds, const char* promise) {
    if (!holds && broken_.empty()) broken_ = promise;
  }

  void check(const AcquireAction& action) {
    switch (action.kind) {
      case Kind::wait_turn:
        must(action.until == limit(), "the place in the queue is kept until the limit");
        break;
      case Kind::attempt:
        check_attempt(action);
        break;
      case Kind::wait:
        check_wait(action);
        break;
      case Kind::pause:
        must(after_reply() && last_reply_.retry_after.has_value(), "only a split vote makes it deaf");
        break;
      case Kind::finish:
        check_finish(action);
        break;
    }
    check_safety_polling(action);
  }

  void check_attempt(const AcquireAction& action) {
    must(action.timeout > 0s && action.timeout <= terms_.command_timeout, "a command has its time limit");
    if (terms_.wait) {
      must(action.timeout <= std::max<Duration>(limit() - now_, kShortestTimeout), "a command ends with the limit");
    }
    if (trouble_since_ && !terms_.once) {
      const TimePoint give_up = *trouble_since_ + terms_.patience;
      must(now_ < give_up, "patience is lost without a further attempt");
      must(action.timeout <= std::max<Duration>(give_up - now_, kShortestTimeout), "an attempt ends with patience");
    }
    must(!held_here(), "the server is not asked while this client holds the lock");
    if (terms_.once) must(!action.subscribe, "who asks once does not subscribe");
    if (after_reply()) {
      must(action.subscribe && last_reply_.kind == Attempt::Kind::busy && !last_reply_.subscribed,
           "an attempt right behind another one is there to subscribe");
    } else if (seen_busy_) {
      must(action.subscribe == !view_.subscribed, "who waits for somebody else asks with a subscription");
    }
  }

  void check_wait(const AcquireAction& action) {
    must(action.until > now_, "a wait takes time, else the loop spins");
    if (!terms_.once) must(action.until <= limit(), "a wait ends with the limit");
    if (held_here()) {
      must(!terms_.once && action.until == limit(), "only the limit bounds the wait for a local hold");
      return;
    }
    must(after_reply(), "a wait for the server follows a reply");
    if (last_reply_.kind == Attempt::Kind::busy) {
      must(!terms_.once, "who asks once does not wait for the lock");
      must(last_reply_.subscribed, "who waits for the lock has subscribed");
      must(action.until <= now_ + terms_.safety_poll, "a wait ends with the safety poll");
      if (last_reply_.busy_for >= 0ms) {
        must(action.until <= now_ + last_reply_.busy_for + kExpiryRounding, "a wait ends with the lease");
      }
      return;
    }
    must(action.until <= now_ + kLongestPause, "a pause is short");
    if (terms_.once) {
      must(action.until <= kStart + terms_.command_timeout, "who asks once tries no longer than one command may take");
    } else {
      must(action.until <= *trouble_since_ + terms_.patience, "trouble is borne no longer than patience lasts");
    }
  }

  void check_finish(const AcquireAction& action) {
    const bool is_grant = after_reply() && last_reply_.kind == Attempt::Kind::granted;
    must(!action.error == is_grant, "it is granted if and only if the server has granted it");
    must(action.undo == (action.error && unresolved_), "what may have been granted unseen is undone");
    if (stopped_) must(action.error == Errc::cancelled, "a stop ends it");
    if (action.error == Errc::busy) must(terms_.once, "only who asks once is told `busy`");
    if (action.error == Errc::timed_out) {
      must(terms_.wait && now_ >= limit(), "only the limit times out");
      must(seen_taken_ || held_here() || !trouble_since_, "trouble alone is not called `timed_out`");
    }
  }

  void check_safety_polling(const AcquireAction& action) {
    if (event_.starts_with("wake") || event_.starts_with("turn")) must(!fsm_.safety_polling(), "a wake is no poll");
    if (event_.starts_with("time") && action.kind != Kind::finish) {
      must(fsm_.safety_polling() == (poll_is_next_ && action.kind == Kind::attempt), "polls are told apart");
    }
    poll_is_next_ = action.kind == Kind::wait && after_reply() && last_reply_.kind == Attempt::Kind::busy &&
                    action.until < limit() &&
                    (last_reply_.busy_for < 0ms || action.until < now_ + last_reply_.busy_for + kExpiryRounding);
    if (poll_is_next_) must(action.until >= now_ + terms_.safety_poll / 2, "polls are rare");
  }

  std::mt19937 random_;
  TimePoint now_ = kStart;
  std::size_t trouble_percent_ = 0;
  std::string told_;
  std::string broken_;
  const AcquireTerms terms_;
  AcquireFsm fsm_;

  AcquireAction last_{};
  Attempt last_reply_{};
  TargetView view_{};
  std::string event_;
  bool stopped_ = false;
  bool unresolved_ = false;
  bool seen_busy_ = false;     // by the server
  bool seen_taken_ = false;    // by the server, or because this client held it
  bool poll_is_next_ = false;  // the wait ends only because no message came for a while
  TimePoint asked_at_{};       // when the latest attempt began
  std::optional<TimePoint> trouble_since_;
};

TEST(EveryAcquire, KeepsItsPromises) {
  for (unsigned seed = 1; seed <= 20000; ++seed) {
    History history(seed);
    history.live();
    ASSERT_EQ(history.broken(), "") << "seed " << seed << "\n" << history.told();
  }
}

}  // namespace
}  // namespace holdfast::engine::acquire_fsm_property_test
