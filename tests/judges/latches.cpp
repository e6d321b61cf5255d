// SPDX-License-Identifier: Apache-2.0
// Latches: nobody continues before the last step, everybody behind it, and each step counts once.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "judges/judges.hpp"

namespace holdfast::test {
namespace {

/// All that was done with one latch, which is set once.
class OneLatch {
 public:
  OneLatch(const View& view, Text name, std::vector<const LatchCall*> calls, Verdict& verdict)
      : view_(view), name_(name), calls_(std::move(calls)), verdict_(verdict) {}

  void judge() {
    static const Text kSet("set"), kSteps("steps"), kStep("step"), kWait("wait"), kCounted("counted");
    Microseconds from = 0, to = 0;
    for (const LatchCall* each : calls_) {
      to = std::max({to, each->called, each->ended});
      if (each->outcome == kSet) {
        from = each->called;
        steps_ = each->steps;
      }
      if (each->what == kSteps) perhaps_.push_back(each->called);
      if (each->what == kStep && each->outcome == kCounted) surely_.push_back(each->ended);
    }
    if (from == 0 || view_.struck(name_, from, to, true) != nullptr) return;
    ++verdict_.latches;
    std::ranges::sort(surely_);
    for (const LatchCall* each : calls_) {
      if (each->what == kWait) waited(*each);
    }
    for (const Look& look : view_.story().history.looks) {
      if (look.name == name_ && view_.struck(name_, from, look.ended, true) == nullptr) counted(look);
    }
  }

 private:
  void waited(const LatchCall& wait) {
    static const Text kOpen("open"), kClosed("closed");
    if (wait.outcome == kOpen) {
      const auto made = std::ranges::count_if(perhaps_, [&](Microseconds called) { return called <= wait.ended; });
      if (made < steps_) {
        violated(wait, "continued when " + std::to_string(made) + " of " + std::to_string(steps_) + " steps were made");
      }
    }
    if ((wait.outcome != kOpen && wait.outcome != kClosed) || static_cast<long long>(surely_.size()) < steps_) return;
    const StorySettings& settings = view_.story().settings;
    Microseconds open = std::max(surely_[static_cast<std::size_t>(steps_) - 1], wait.called);
    for (const StruckFault& fault : view_.story().faults) {
      if (!fault.concerns(name_) || fault.began > wait.ended) continue;
      open = std::max(open, fault.ended == 0 ? wait.ended : fault.ended);
    }
    const Microseconds late = wait.ended - open;
    if (late <= settings.safety_poll + settings.allowance) return;
    violated(wait, "waited for " + in_ms(late) + " behind its last step");
  }

  void counted(const Look& look) {
    ++verdict_.plain_counted;
    const auto made = [](const std::vector<Microseconds>& steps, Microseconds by) {
      return std::ranges::count_if(steps, [&](Microseconds each) { return each <= by; });
    };
    const long long perhaps = made(perhaps_, look.ended), surely = made(surely_, look.called);
    if (look.left >= std::max(0LL, steps_ - perhaps) && look.left <= std::max(0LL, steps_ - surely)) return;
    verdict_.violations.push_back({"latch", name_.str() + ", set for " + std::to_string(steps_) + " steps, had " +
                                                std::to_string(look.left) + " left, as " + look.client.str() + " saw " +
                                                view_.at(look.ended) + ": " + std::to_string(surely) +
                                                " were surely made, and " + std::to_string(perhaps) + " perhaps"});
  }

  void violated(const LatchCall& wait, const std::string& what) {
    verdict_.violations.push_back({"latch", wait.client.str() + ", which waited for " + name_.str() + " from " +
                                                view_.at(wait.called) + " to " + view_.at(wait.ended) + ", " + what +
                                                view_.near(name_, wait.called, wait.ended)});
  }

  const View& view_;
  const Text name_;
  const std::vector<const LatchCall*> calls_;
  Verdict& verdict_;
  long long steps_ = 0;
  std::vector<Microseconds> perhaps_;  // when each step was called
  std::vector<Microseconds> surely_;   // when each was told that it counts
};

}  // namespace

void judge_latches(const View& view, Verdict& verdict) {
  std::unordered_map<Text, std::vector<const LatchCall*>> latches;
  std::vector<Text> names;
  for (const LatchCall& call : view.story().history.latches) {
    const auto [calls, first] = latches.try_emplace(call.name);
    if (first) names.push_back(call.name);
    calls->second.push_back(&call);
  }
  for (const Text name : names) OneLatch(view, name, std::move(latches[name]), verdict).judge();
}

}  // namespace holdfast::test
