// SPDX-License-Identifier: Apache-2.0
// Whose lock is lost is told.
#include <algorithm>
#include <unordered_map>

#include "judges/judges.hpp"

namespace holdfast::test {
namespace {

class Honesty {
 public:
  Honesty(const View& view, Verdict& verdict) : view_(view), story_(view.story()), verdict_(verdict) {
    for (const ConnectionChange& change : story_.history.connections) {
      if (change.connected) connected_[change.client].push_back(change.time);
    }
    for (auto& [client, times] : connected_) std::ranges::sort(times);
  }

  void judge() {
    static const Text kWasLost("was_lost"), kNoReason("-"), kMaxHold("max_hold"), kClosed("closed"), kForked("forked");
    for (const HeldOnce& hold : story_.history.holds) {
      if (hold.open || (hold.reason == kNoReason && hold.outcome != kWasLost)) continue;
      ++verdict_.lost;
      if (hold.reason == kMaxHold || hold.reason == kClosed || hold.reason == kForked) continue;  // by its own side
      if (hold.over_by_itself()) {
        judge_deadline(hold);
      } else {
        judge_forgotten(hold);
      }
    }
    verdict_.told = spread(std::move(told_));
    verdict_.told_at_deadline = spread(std::move(told_at_deadline_));
  }

 private:
  static constexpr Microseconds kRecordedLate = 50'000;

  /// The signal comes at the deadline, if the process runs.
  void judge_deadline(const HeldOnce& hold) {
    if (hold.told == 0) return;  // it was released, or seen by a check, before
    const Microseconds still = view_.stood_still(hold.client, hold.deadline, hold.told);
    const Microseconds late = std::max<Microseconds>(hold.told - hold.deadline - still, 0);
    told_at_deadline_.push_back(late);
    if (late > story_.settings.allowance && !story_.is_other(hold.client)) {
      violated(hold, "was told " + in_ms(late) + " after its deadline");
    }
  }

  void judge_forgotten(const HeldOnce& hold) {
    ++verdict_.forgotten;
    const StruckFault* const cause = cause_of(hold);
    const bool other = story_.is_other(hold.client);
    const char* const unexplained = other ? "another library's own affair" : "nothing that is known";
    ++verdict_.forgotten_by[cause == nullptr ? unexplained : cause->kind.str()];
    if (other) return;  // it tells nobody
    const Microseconds from = since(hold);
    const Microseconds still = view_.stood_still(hold.client, from, hold.learned());
    told_.push_back(std::max<Microseconds>(hold.learned() - from - still, 0));
    if (cause == nullptr) {
      violated(hold, "was lost without a fault that explains it");
    } else if (!in_time(hold, *cause)) {
      violated(hold, "learned too late that it was lost by " + cause->kind.str());
    }
  }

  /// The first fault that explains the loss and of which its holder learned in time, else the last that explains it.
  const StruckFault* cause_of(const HeldOnce& hold) const {
    const StruckFault* cause = nullptr;
    for (const StruckFault& fault : story_.faults) {
      if (fault.exclusion_promised || !fault.concerns(hold.name) || fault.began > hold.learned()) continue;
      if (fault.ended != 0 && fault.works_until() + fault.told_within < hold.granted) continue;
      cause = &fault;
      if (in_time(hold, fault)) break;
    }
    return cause;
  }

  bool in_time(const HeldOnce& hold, const StruckFault& fault) const {
    if (fault.told_within == 0 || fault.ended == 0) return true;
    const Microseconds could = std::max(fault.ended, hold.granted);
    const Microseconds still = view_.stood_still(hold.client, could, hold.learned());
    return hold.learned() <= could + fault.told_within + still + story_.settings.allowance;
  }

  /// What its holder could have known of it first: the fault, or the connection behind it.
  Microseconds since(const HeldOnce& hold) const {
    Microseconds latest = hold.granted;
    for (const StruckFault& fault : story_.faults) {
      if (!fault.exclusion_promised && fault.concerns(hold.name) && fault.began <= hold.learned()) {
        latest = std::max(latest, fault.began);
      }
    }
    const auto found = connected_.find(hold.client);
    if (found == connected_.end()) return latest;
    const auto next = std::ranges::upper_bound(found->second, hold.learned() + kRecordedLate);
    return next == found->second.begin() ? latest : std::max(latest, *std::prev(next));
  }

  void violated(const HeldOnce& hold, const std::string& what) {
    verdict_.violations.push_back({"told", "a holder of " + hold.name.str() + " " + what + ": " + view_.words(hold) +
                                               view_.near(hold.name, hold.granted, hold.learned())});
  }

  const View& view_;
  const Story& story_;
  Verdict& verdict_;
  std::unordered_map<Text, std::vector<Microseconds>> connected_;
  std::vector<Microseconds> told_, told_at_deadline_;
};

}  // namespace

void judge_honesty(const View& view, Verdict& verdict) { Honesty(view, verdict).judge(); }

}  // namespace holdfast::test
