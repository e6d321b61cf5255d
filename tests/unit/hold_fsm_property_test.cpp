// SPDX-License-Identifier: Apache-2.0
// What must hold of every hold, whatever happens to it: thousands of random histories, each from its own seed.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fsm_text.hpp"

namespace holdfast::engine::hold_fsm_property_test {
namespace {

using namespace std::chrono_literals;
using Todo = HoldFsm::Todo;
using Change = HoldFsm::Change;

/// Lives through one random hold beside a plain reckoning of what the server has confirmed.
class History {
 public:
  explicit History(unsigned seed) : random_(seed), terms_(random_terms()), fsm_(now_, terms_, now_), confirmed_(now_) {}

  void live() {
    check();
    for (int step = 0; step < 60 && broken_.empty(); ++step) {
      pass_time();
      happen();
      told_ += "  " + text(now_) + "  " + event_ + "  ->  " + to_string(fsm_.state()) + " until " +
               text(fsm_.deadline()) + ", due " + text(fsm_.due()) + "\n";
      check();
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

  LeaseTerms random_terms() {
    LeaseTerms terms;
    terms.length = milliseconds(chance(30) ? 10 + dice(50) : 10 + dice(30000));
    terms.renewed = chance(85);
    if (chance(30)) terms.max_hold = milliseconds(1 + dice(static_cast<std::size_t>(3 * terms.length.count())));
    told_ = "  length=" + text(Duration(terms.length)) + (terms.renewed ? " renewed" : " fixed") +
            (terms.max_hold ? " max_hold=" + text(Duration(*terms.max_hold)) : "") + "\n";
    return terms;
  }

  void pass_time() {
    if (chance(40) && fsm_.due() > now_) {
      now_ = fsm_.due();
    } else if (chance(5)) {
      now_ += between(0ms, 2 * terms_.length);
    } else if (chance(60)) {
      now_ += between(0ms, terms_.length / 10);
    }
  }

  // --- events ---

  void happen() {
    state_before_ = fsm_.state();
    const std::size_t what = dice(100);
    if (what < 50) {
      look(chance(50) ? Duration{} : batching_window(terms_.length));
    } else if (what < 90) {
      answer();
    } else if (what < 95) {
      event_ = "reconnect";
      fsm_.on_reconnect(now_);
      ++reconnects_;
    } else if (what < 97) {
      event_ = "closed";
      note(fsm_.on_closed());
    } else if (what < 98) {
      event_ = "release";
      must(fsm_.begin_release() == !released_, "it can be released once");
      released_ = true;
    } else {
      look({});
    }
  }

  void look(Duration early) {
    const Todo todo = fsm_.on_time(now_, early);
    event_ = "time, " + text(todo);
    if (todo == Todo::lost) note(Change::lost);
    if (todo == Todo::renew) {
      must(terms_.renewed, "a fixed lease is not renewed");
      must(under_way_.size() <= reconnects_, "one renewal at a time, and one for what a lost connection swallowed");
      must(now_ < deadline(), "no renewal after the deadline: it could take the lock back from somebody else");
      must(!early.count() || now_ + early >= due_before_, "no renewal earlier than the window says");
      under_way_.push_back(now_);
    }
    if (!fsm_.ended() && early == Duration{})
      must(fsm_.due() > now_, "having looked, there is time until the next look");
  }

  /// One of the renewals under way is answered, not always the oldest, or is known to be lost.
  void answer() {
    if (under_way_.empty()) {
      event_ = "silence";
      return;
    }
    const auto which = under_way_.begin() + static_cast<std::ptrdiff_t>(dice(under_way_.size()));
    const TimePoint sent_at = *which;
    under_way_.erase(which);
    const bool counts = !fsm_.ended() && now_ < deadline();
    switch (dice(10)) {
      case 0:
        event_ = "gone";
        note(fsm_.on_gone());
        break;
      case 1:
      case 2:
      case 3:
      case 4:
        event_ = "unanswered";
        note(fsm_.on_unanswered(now_));
        break;
      default:
        event_ = "renewed, sent at " + text(sent_at);
        if (counts) confirmed_ = std::max(confirmed_, sent_at);
        note(fsm_.on_renewed(sent_at, now_));
    }
  }

  // --- what must hold ---

  void must(bool holds, const char* promise) {
    if (!holds && broken_.empty()) broken_ = promise;
  }

  TimePoint deadline() const {
    const TimePoint end = lease_end(confirmed_, terms_.length);
    return terms_.max_hold ? std::min(end, kStart + *terms_.max_hold) : end;
  }

  void note(Change change) {
    if (change == Change::lost) {
      must(!told_lost_, "a loss is told once");
      must(state_before_ == HoldState::held || state_before_ == HoldState::suspect, "what has ended cannot be lost");
      must(fsm_.state() == HoldState::lost, "a loss that is told is one");
      if (fsm_.reason() == LossReason::expired) must(now_ >= deadline(), "it expires at the deadline");
      if (fsm_.reason() == LossReason::max_hold) {
        must(terms_.max_hold && now_ >= kStart + *terms_.max_hold, "the cap is what it was told to be");
      }
      told_lost_ = true;
    }
    if (change == Change::suspect) {
      must(state_before_ == HoldState::held && fsm_.state() == HoldState::suspect, "trouble is told when it begins");
    }
  }

  void check() {
    must(fsm_.deadline() == deadline(), "only what the server has confirmed extends it");
    must(fsm_.valid_for(now_) <= std::max<Duration>(deadline() - now_, 0ms), "it is certain no longer than that");
    must(fsm_.due() <= fsm_.deadline(), "somebody looks at the deadline at the latest");
    if (terms_.max_hold) must(fsm_.deadline() <= kStart + *terms_.max_hold, "it never outlives its cap");
    must(fsm_.ended() == (fsm_.valid_for(kStart) == 0ms), "what has ended is valid for no time at all");
    must(fsm_.lateness(now_) >= 0ms, "nothing is late by less than nothing");
    if (ended_) must(fsm_.ended(), "what has ended is never held again");
    if (state_before_ == HoldState::lost) must(fsm_.state() == HoldState::lost, "what was lost stays lost");
    if (released_) must(fsm_.ended(), "what was released stays released");
    if (fsm_.state() == HoldState::lost) must(told_lost_, "no loss is kept from the holder");
    check_that_it_is_looked_after();
    ended_ = fsm_.ended();
    due_before_ = fsm_.due();
  }

  /// With nothing under way, the next renewal comes well before the deadline, unless it is not needed or too late.
  void check_that_it_is_looked_after() {
    if (fsm_.ended() || !terms_.renewed || !under_way_.empty() || now_ >= deadline()) return;
    const bool outlives_cap = terms_.max_hold && deadline() == kStart + *terms_.max_hold;
    const bool last_moment = now_ + retry_after(terms_.length) >= deadline();
    if (!outlives_cap && !last_moment) must(fsm_.due() < deadline(), "a hold is not forgotten");
  }

  std::mt19937 random_;
  TimePoint now_ = kStart;
  std::string told_;
  std::string broken_;
  std::string event_;
  const LeaseTerms terms_;
  HoldFsm fsm_;

  TimePoint confirmed_;               // the latest send that is known to have extended it
  std::vector<TimePoint> under_way_;  // renewals sent and not yet answered
  TimePoint due_before_{};
  HoldState state_before_ = HoldState::held;
  std::size_t reconnects_ = 0;
  bool told_lost_ = false;
  bool released_ = false;
  bool ended_ = false;
};

TEST(EveryHold, KeepsItsPromises) {
  for (unsigned seed = 1; seed <= 20000; ++seed) {
    History history(seed);
    history.live();
    ASSERT_EQ(history.broken(), "") << "seed " << seed << "\n" << history.told();
  }
}

}  // namespace
}  // namespace holdfast::engine::hold_fsm_property_test
