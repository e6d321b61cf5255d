// SPDX-License-Identifier: Apache-2.0
// Every wait ends, and what is free is taken.
#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "judges/judges.hpp"

namespace holdfast::test {
namespace {

/// What an attempt that has just begun gets beyond the limit of its wait.
constexpr Microseconds kBegun = 50'000;

/// The limits of docs/guarantees.md, section 2. kNever: there is none that can be seen from outside.
Microseconds limit_of(const StorySettings& settings, Microseconds recorded) {
  const Microseconds wait = recorded == HeldOnce::kNoWait && settings.wait != 0 ? settings.wait : recorded;
  if (wait == HeldOnce::kNoWait) return HeldOnce::kNever;
  return wait == 0 ? settings.command_timeout : wait + kBegun;
}

class Waits {
 public:
  Waits(const View& view, Verdict& verdict) : view_(view), settings_(view.story().settings), verdict_(verdict) {}

  void judge() {
    const History& history = view_.story().history;
    waits_.reserve(history.holds.size() + history.failures.size());
    for (const HeldOnce& hold : history.holds) {
      acquire(hold.client, hold.name, hold.called, hold.granted, hold.wait, "granted");
      if (!hold.open && hold.waits) release(hold);
    }
    for (const FailedCall& call : history.failures) {
      acquire(call.client, call.name, call.called, call.ended, call.wait, call.cause.str());
    }
    static const Text kWait("wait"), kSteps("steps");
    for (const LatchCall& call : history.latches) {
      if (call.what == kSteps) continue;
      const Microseconds limit = call.what == kWait ? call.wait : settings_.patience;
      acquire(call.client, call.name, call.called, call.ended, limit, call.what.str() + ", " + call.outcome.str());
    }
    verdict_.wait = spread(std::move(waits_));
  }

 private:
  void acquire(Text client, Text name, Microseconds called, Microseconds ended, Microseconds wait,
               const std::string& outcome) {
    const Microseconds took = ended - called;
    waits_.push_back(took);
    const Microseconds limit = limit_of(settings_, wait);
    const bool longest = took > verdict_.longest_acquire;
    const bool late = limit != HeldOnce::kNever && took > limit + settings_.allowance &&
                      took > limit + settings_.allowance + view_.stood_still(client, called, ended);
    if (!longest && !late) return;
    const std::string text = client.str() + " waited for " + name.str() + " from " + view_.at(called) + " to " +
                             view_.at(ended) + ", " + in_ms(took) + ": " + outcome + view_.near(name, called, ended);
    if (longest) {
      verdict_.longest_acquire = took;
      verdict_.longest_acquire_by = text;
    }
    if (late && !view_.story().is_other(client)) {
      verdict_.violations.push_back({"wait", text + "; the limit was " + in_ms(limit)});
    }
  }

  void release(const HeldOnce& hold) {
    const Microseconds took = hold.ended - hold.released;
    // What belongs to nobody is given back for as long as any change is repeated.
    const bool plain = view_.story().is_plain(hold.name);
    const Microseconds limit = (plain ? settings_.patience : settings_.release_timeout) + settings_.allowance;
    const bool longest = took > verdict_.longest_release;
    const bool late = took > limit && took > limit + view_.stood_still(hold.client, hold.released, hold.ended);
    if (!longest && !late) return;
    const std::string text = in_ms(took) + ", " + view_.words(hold) + view_.near(hold.name, hold.released, hold.ended);
    if (longest) {
      verdict_.longest_release = took;
      verdict_.longest_release_by = text;
    }
    if (late && !view_.story().is_other(hold.client)) {
      verdict_.violations.push_back({"wait", "a release of " + hold.name.str() + " took " + text});
    }
  }

  const View& view_;
  const StorySettings& settings_;
  Verdict& verdict_;
  std::vector<Microseconds> waits_;
};

/// A time in which nobody had the lock.
struct Gap {
  Microseconds from = 0, to = 0;  ///< kNever: nobody was granted it any more.
};

class FreeLocks {
 public:
  FreeLocks(const View& view, Verdict& verdict) : view_(view), settings_(view.story().settings), verdict_(verdict) {
    static const Text kBusy("busy");
    for (const FailedCall& call : view.story().history.failures) {
      if (call.word == kBusy) continue;
      for (const Text name : names_of(call)) {
        failures_[name].push_back(&call);
        if (!call.set.empty()) of_sets_.insert(name);
      }
    }
    for (const HeldOnce& hold : view.story().history.holds) {
      if (hold.set.empty() || hold.granted - hold.called < settings_.safety_poll / 2) continue;
      for (const Text name : names_of(hold)) {
        if (name != hold.name) granted_another_[name].push_back(&hold);
        of_sets_.insert(name);
      }
    }
  }

  void judge() {
    for (const View::Name& name : view_.names()) {
      judge(name);
      of_sets_.erase(name.name);
    }
    for (const Text never_granted : of_sets_) judge({.name = never_granted});
  }

 private:
  void judge(const View::Name& name) {
    // What was killed may have its permits for ever, which nobody can see.
    if (view_.story().is_plain(name.name)) return;
    const std::vector<Held>& holds = name.holds;
    // Who was granted it at or after each place, and asked first: they all waited until then. Others may be slow.
    std::vector<Microseconds> asked(holds.size() + 1, HeldOnce::kNever);
    for (std::size_t i = holds.size(); i-- > 0;) {
      const HeldOnce& hold = view_.hold(holds[i]);
      asked[i] = std::min(asked[i + 1], view_.story().is_other(hold.client) ? HeldOnce::kNever : hold.called);
    }
    Microseconds free_from = 0;
    for (std::size_t i = 0; i < holds.size(); ++i) {
      if (i > 0) waited(name.name, {std::max(free_from, asked[i]), holds[i].granted}, "until it was granted");
      if (i > 0) in_vain(name.name, {free_from, holds[i].granted});
      free_from = std::max(free_from, free_after(holds[i]));
    }
    in_vain(name.name, {free_from, HeldOnce::kNever});
  }

  /// When the server had surely nobody's hold any more.
  Microseconds free_after(const Held& held) const {
    static const Text kReleased("released");
    const HeldOnce& hold = view_.hold(held);
    if (!hold.open && hold.outcome == kReleased) return hold.ended;
    if (!hold.open && hold.forgotten()) return hold.learned();
    return std::max({hold.granted, hold.ended, hold.deadline}) + settings_.lease;
  }

  /// Those who gave up while it was free, or who waited on and got another one of several.
  void in_vain(Text name, Gap gap) {
    if (gap.to - gap.from < settings_.safety_poll / 2) return;
    for (const FailedCall* call : of(failures_, name)) {
      if (call->called >= gap.to || call->ended <= gap.from || !waits(*call)) continue;
      if (view_.story().is_other(call->client)) continue;
      waited(name, {std::max(gap.from, call->called), std::min(gap.to, call->ended)},
             "until " + call->client.str() + " gave up: " + call->cause.str());
    }
    for (const HeldOnce* hold : of(granted_another_, name)) {
      if (hold->called >= gap.to || hold->granted <= gap.from) continue;
      waited(name, {std::max(gap.from, hold->called), std::min(gap.to, hold->granted)},
             "which " + hold->client.str() + " did for it or another of " + hold->set.str());
    }
  }

  /// Some fail at once, for reasons of their own.
  bool waits(const FailedCall& call) const {
    static const Text kTimedOut("timed_out"), kCancelled("cancelled");
    return call.word.empty() || call.word == kTimedOut || call.word == kCancelled;
  }

  void waited(Text name, Gap gap, const std::string& end) {
    const Microseconds time = gap.to - gap.from;
    if (time > settings_.safety_poll / 2) ++verdict_.long_free;
    if (time <= verdict_.longest_free_undisturbed) return;
    const Microseconds most = allowed(name, gap);
    const bool undisturbed = most == settings_.safety_poll + settings_.allowance;
    if (undisturbed) verdict_.longest_free_undisturbed = time;
    if (time <= std::min(verdict_.longest_free, most)) return;
    const std::string text = name.str() + " was free for " + in_ms(time) + ", from " + view_.at(gap.from) +
                             ", while somebody waited, " + end + view_.near(name, gap.from, gap.to);
    if (time > verdict_.longest_free) {
      verdict_.longest_free = time;
      verdict_.longest_free_at = text;
    }
    if (time > most) verdict_.violations.push_back({"free lock", text});
  }

  /// A fault, or a call whose outcome nobody knows, may leave a lock taken by nobody until its lease is over.
  Microseconds allowed(Text name, Gap gap) const {
    const Microseconds usual = settings_.safety_poll + settings_.allowance;
    Microseconds longest = usual;
    const auto stands_until = [&](Microseconds end) {
      const Microseconds over = end + settings_.lease + usual;
      if (end == 0 || over > gap.to) longest = HeldOnce::kNever;
      if (over > gap.from) longest = std::max(longest, over - gap.from);
    };
    for (const StruckFault& fault : view_.story().faults) {
      if (fault.concerns(name) && fault.began < gap.to) stands_until(fault.ended);
    }
    for (const FailedCall* call : of(failures_, name)) {
      if (call->called < gap.to && call->ended < gap.to) stands_until(call->ended);
    }
    return longest;
  }

  template <class Call>
  using ByName = std::unordered_map<Text, std::vector<const Call*>>;

  template <class Call>
  static std::span<const Call* const> of(const ByName<Call>& all, Text name) {
    const auto found = all.find(name);
    return found == all.end() ? std::span<const Call* const>() : found->second;
  }

  const View& view_;
  const StorySettings& settings_;
  Verdict& verdict_;
  ByName<FailedCall> failures_;       // of all names that they were for
  ByName<HeldOnce> granted_another_;  // after a long wait, of the others of its names
  std::unordered_set<Text> of_sets_;  // the names for any of which somebody waited
};

}  // namespace

void judge_waits(const View& view, Verdict& verdict) { Waits(view, verdict).judge(); }
void judge_free_locks(const View& view, Verdict& verdict) { FreeLocks(view, verdict).judge(); }

}  // namespace holdfast::test
