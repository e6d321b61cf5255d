// SPDX-License-Identifier: Apache-2.0
// The sweep: exact, in the order of the grants.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "judges/judges.hpp"

namespace holdfast::test {
namespace {

/// Holds of one name that were believed in at once, one more than may be; the last of them was granted while the others
/// were not over. A hold that was over when its holder got it, since the process stood still meanwhile, is nobody's: it
/// was never believed in.
using Together = std::span<const Held* const>;

class Exclusion {
 public:
  Exclusion(const View& view, Verdict& verdict) : view_(view), story_(view.story()), verdict_(verdict) {}

  void judge() {
    for (const View::Name& name : view_.names()) {
      const auto permits = story_.permits.find(name.name.str());
      if (permits == story_.permits.end()) {
        of_lock(name);
      } else {
        of_semaphore(name, static_cast<std::size_t>(permits->second.all));
      }
    }
    verdict_.overlapped = spread(std::move(lasted_));
  }

 private:
  /// Readers may be together, a writer with nobody.
  void of_lock(const View::Name& name) {
    const Held *latest = nullptr, *latest_alone = nullptr;  // of all, of those that do not share: who believes longest
    for (const Held& held : name.holds) {
      const Held* const before = held.shared ? latest_alone : latest;
      if (before != nullptr && held.granted < std::min(before->until, held.until)) {
        const Held* const both[] = {before, &held};
        if (of_others(view_.hold(*before), view_.hold(held))) {
          ++verdict_.overlaps_of_others;
        } else {
          found(name, both, "two holders");
        }
      }
      keep_longer(latest, held);
      if (!held.shared) keep_longer(latest_alone, held);
    }
  }

  static void keep_longer(const Held*& latest, const Held& held) {
    if (latest == nullptr || held.until > latest->until) latest = &held;
  }

  void of_semaphore(const View::Name& name, std::size_t permits) {
    std::vector<const Held*> together;
    for (const Held& held : name.holds) {
      if (held.granted >= held.until) continue;
      std::erase_if(together, [&](const Held* each) { return each->until <= held.granted; });
      together.push_back(&held);
      if (together.size() <= permits) continue;
      found(name, together, std::to_string(together.size()) + " holders of " + std::to_string(permits) + " permits");
    }
  }

  void found(const View::Name& name, Together together, const std::string& who) {
    const Held& last = *together.back();
    const Microseconds until = (*std::ranges::min_element(together, {}, &Held::until))->until;
    const Microseconds lasted = until - last.granted;
    if (const StruckFault* const fault = excuse(name, together)) {
      ++verdict_.overlaps_counted;
      ++verdict_.overlaps_counted_by[fault->kind.str()];
      lasted_.push_back(lasted);
      return;
    }
    std::string holders;
    for (const Held* each : together) holders += (holders.empty() ? "" : "; and ") + view_.words(view_.hold(*each));
    verdict_.violations.push_back({"exclusion", name.name.str() + " had " + who + " for " + in_ms(lasted) + ": " +
                                                    holders +
                                                    view_.near(name.name, together.front()->granted, last.granted)});
  }

  /// The fault by which it is only counted; null if there is none.
  const StruckFault* excuse(const View::Name& name, Together together) const {
    // What has no lease does not come back to what it was.
    if (story_.is_plain(name.name)) {
      return view_.struck(name.name, view_.hold(name.holds.front()).called, together.back()->granted, true);
    }
    const auto found = std::ranges::find_if(story_.faults, [&](const StruckFault& fault) {
      const auto in_its_time = [&](const Held* held) {
        return held->granted >= fault.began && held->granted <= fault.counted_until;
      };
      return !fault.exclusion_promised && fault.concerns(name.name) && std::ranges::any_of(together, in_its_time);
    });
    return found == story_.faults.end() ? nullptr : &*found;
  }

  /// What another library believes is its own affair, unless it still had the lock when we were granted it.
  bool of_others(const HeldOnce& first, const HeldOnce& second) const {
    if (!story_.is_other(first.client)) return false;
    return story_.is_other(second.client) || first.outcome != "released";
  }

  const View& view_;
  const Story& story_;
  Verdict& verdict_;
  std::vector<Microseconds> lasted_;
};

}  // namespace

void judge_exclusion(const View& view, Verdict& verdict) { Exclusion(view, verdict).judge(); }

}  // namespace holdfast::test
