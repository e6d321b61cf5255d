// The sweep: exact, in the order of the grants.
#include <algorithm>

#include "judges/judges.hpp"

namespace holdfast::test {
namespace {

/// Two holders of one name: the second was granted while the first believed in its hold. A hold that was over when its
/// holder got it, since the process stood still meanwhile, is nobody's: it was never believed in.
struct Both {
  const HeldOnce& first;
  const HeldOnce& second;
  Microseconds lasted;
};

/// The fault by which it is only counted; null if there is none.
const StruckFault* excuse(const Story& story, const Both& both) {
  const auto found = std::ranges::find_if(story.faults, [&](const StruckFault& fault) {
    const auto in_its_time = [&](const HeldOnce& hold) {
      return hold.granted >= fault.began && hold.granted <= fault.counted_until;
    };
    return !fault.exclusion_promised && fault.concerns(both.first.name) &&
           (in_its_time(both.first) || in_its_time(both.second));
  });
  return found == story.faults.end() ? nullptr : &*found;
}

/// What another library believes is its own affair, unless it still had the lock when we were granted it.
bool of_others(const Story& story, const Both& both) {
  if (!story.is_other(both.first.client)) return false;
  return story.is_other(both.second.client) || both.first.outcome != "released";
}

}  // namespace

void judge_exclusion(const View& view, Verdict& verdict) {
  std::vector<Microseconds> lasted;
  for (const View::Name& name : view.names()) {
    const Held* latest = nullptr;  // whoever believes longest so far
    for (const Held& held : name.holds) {
      if (latest != nullptr && held.granted < std::min(latest->until, held.until)) {
        const Both both{view.hold(*latest), view.hold(held), std::min(latest->until, held.until) - held.granted};
        if (of_others(view.story(), both)) {
          ++verdict.overlaps_of_others;
        } else if (const StruckFault* const fault = excuse(view.story(), both)) {
          ++verdict.overlaps_counted;
          ++verdict.overlaps_counted_by[fault->kind.str()];
          lasted.push_back(both.lasted);
        } else {
          verdict.violations.push_back({"exclusion", name.name.str() + " had two holders for " + in_ms(both.lasted) +
                                                         ": " + view.words(both.first) + "; and " +
                                                         view.words(both.second) +
                                                         view.near(name.name, both.first.granted, held.granted)});
        }
      }
      if (latest == nullptr || held.until > latest->until) latest = &held;
    }
  }
  verdict.overlapped = spread(std::move(lasted));
}

}  // namespace holdfast::test
