// SPDX-License-Identifier: Apache-2.0
// What grants leave: tokens that grow, and permits that come back.
#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "judges/judges.hpp"

namespace holdfast::test {
namespace {

/// The tokens of one lock. Only grants of which one was told before the other was asked for surely came in that order.
class Tokens {
 public:
  Tokens(const View& view, const View::Name& name, Verdict& verdict) : view_(view), name_(name), verdict_(verdict) {
    for (const StruckFault& fault : view.story().faults) {
      if (!fault.tokens_promised && fault.concerns(name.name)) faults_.push_back(&fault);
    }
    std::ranges::sort(faults_, {}, &StruckFault::began);
  }

  void judge() {
    for (const Held& held : name_.holds) {
      const HeldOnce& hold = view_.hold(held);
      if (hold.token == 0) continue;
      ++verdict_.tokens;
      begin_anew(hold.granted);
      compare(hold);
      if (hold.called <= anew_from_) continue;
      const bool larger = largest_.empty() || hold.token > largest_.back().hold->token;
      largest_.push_back({hold.granted, larger ? &hold : largest_.back().hold});
    }
  }

 private:
  struct Largest {
    Microseconds granted;
    const HeldOnce* hold;  // of all that were granted by then the one with the largest token
  };

  /// What was asked for before the end of such a fault may have been granted before the servers lost their data.
  void begin_anew(Microseconds granted) {
    for (; next_ < faults_.size() && faults_[next_]->began <= granted; ++next_) {
      const Microseconds ended = faults_[next_]->ended == 0 ? HeldOnce::kNever : faults_[next_]->ended;
      anew_from_ = std::max(anew_from_, ended);
      largest_.clear();
    }
  }

  void compare(const HeldOnce& hold) {
    const auto behind = std::ranges::upper_bound(largest_, hold.called, {}, &Largest::granted);
    if (behind == largest_.begin()) return;
    const HeldOnce& before = *std::prev(behind)->hold;
    if (hold.token > before.token) return;
    verdict_.violations.push_back({"token", "of " + name_.name.str() + " is " + std::to_string(hold.token) +
                                                " behind " + std::to_string(before.token) + ": " + view_.words(before) +
                                                "; and then " + view_.words(hold) +
                                                view_.near(name_.name, before.granted, hold.granted)});
  }

  const View& view_;
  const View::Name& name_;
  Verdict& verdict_;
  std::vector<const StruckFault*> faults_;
  std::size_t next_ = 0;
  Microseconds anew_from_ = 0;
  std::vector<Largest> largest_;  // in the order of the grants, asked for behind anew_from_
};

/// A semaphore whose permits belong to nobody. Those that went with a process are gone, and it may have a call under
/// way for a while before. So may be those of a call that failed while it was struck, or its client gave back what it
/// may have taken. Before the first grant nobody knows whether it has been set.
class PlainPermits {
 public:
  PlainPermits(const View& view, Text name, long long all, Verdict& verdict)
      : view_(view), story_(view.story()), name_(name), all_(all), verdict_(verdict) {
    for (const HeldOnce& hold : story_.history.holds) {
      if (hold.name != name) continue;
      holds_.push_back(&hold);
      began_ = std::min(began_, hold.called);
      set_by_ = std::min(set_by_, hold.granted);
    }
    for (const FailedCall& call : story_.history.failures) {
      if (call.name == name) failures_.push_back(&call);
    }
  }

  void judge() {
    for (const Look& look : story_.history.looks) {
      if (look.name != name_ || look.called < set_by_) continue;
      if (view_.struck(name_, began_, look.ended, true) != nullptr) continue;
      ++verdict_.plain_counted;
      if (look.left <= all_ && look.left + gone(look) >= all_) continue;
      verdict_.violations.push_back({"permits", name_.str() + " had " + std::to_string(look.left) + " of " +
                                                    std::to_string(all_) + ", as " + look.client.str() + " saw " +
                                                    view_.at(look.ended) + view_.near(name_, began_, look.ended)});
    }
  }

 private:
  /// So many at most. Of a process that was killed, all: it may have had more than its records say.
  long long gone(const Look& look) const {
    static const Text kReleased("released");
    const StorySettings& settings = story_.settings;
    std::unordered_set<Text> clients;
    long long perhaps = 0;
    for (const HeldOnce* hold : holds_) {
      clients.insert(hold->client);
      perhaps += hold->open || hold->outcome != kReleased || hold->ended > look.called ? 1 : 0;
    }
    for (const FailedCall* call : failures_) {
      clients.insert(call->client);
      const bool late = call->ended + settings.allowance > look.called;
      perhaps += late || view_.struck(name_, call->called, call->ended + settings.patience) != nullptr ? 1 : 0;
    }
    const bool killed = std::ranges::any_of(story_.faults, [&](const StruckFault& fault) {
      const auto took_part = [&](Text client) { return clients.contains(client); };
      return fault.kills && fault.began <= look.ended + settings.patience + settings.allowance &&
             std::ranges::any_of(fault.clients, took_part);
    });
    return killed ? all_ : perhaps;
  }

  const View& view_;
  const Story& story_;
  const Text name_;
  const long long all_;
  Verdict& verdict_;
  Microseconds began_ = HeldOnce::kNever, set_by_ = HeldOnce::kNever;
  std::vector<const HeldOnce*> holds_;
  std::vector<const FailedCall*> failures_;
};

}  // namespace

void judge_tokens(const View& view, Verdict& verdict) {
  for (const View::Name& name : view.names()) Tokens(view, name, verdict).judge();
}

void judge_permits(const View& view, Verdict& verdict) {
  for (const auto& [name, permits] : view.story().permits) {
    if (permits.plain) PlainPermits(view, name, permits.all, verdict).judge();
    if (permits.left < 0 || permits.left == permits.all) continue;
    verdict.violations.push_back({"permits", name + " has " + std::to_string(permits.left) + " of " +
                                                 std::to_string(permits.all) + " when all leases are over"});
  }
}

}  // namespace holdfast::test
