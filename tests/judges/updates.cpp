// SPDX-License-Identifier: Apache-2.0
// What the lock guards: a number that each holder reads and writes back plus one.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>

#include "judges/judges.hpp"

namespace holdfast::test {
namespace {

/// The updates under one lock, in the order of the grants.
class Updates {
 public:
  Updates(const View& view, const View::Name& name, Verdict& verdict)
      : view_(view), story_(view.story()), name_(name), verdict_(verdict) {}

  void judge() {
    std::unordered_set<long long> numbers;
    long long written = 0, perhaps = 0, unchecked = 0;
    std::string why;
    std::map<std::string, long long> lost_by;
    const HeldOnce* before = nullptr;
    for (const Held& held : name_.holds) {
      const HeldOnce& hold = view_.hold(held);
      if (hold.number == 0) continue;
      if (hold.open) {
        ++perhaps;
        continue;
      }
      ++written;
      unchecked += hold.checked ? 0 : 1;
      if (before != nullptr && hold.number <= before->number) {
        why = excuse(*before, hold);
        if (why.empty()) violated(*before, hold);
      }
      // What follows a number that went back counts up to where it was once more.
      if (!numbers.insert(hold.number).second) ++lost_by[why.empty() ? kNothingKnown : why];
      before = &hold;
    }
    long long lost = written - static_cast<long long>(numbers.size());
    const auto last = story_.numbers.find(name_.name.str());
    if (last != story_.numbers.end() && perhaps == 0) lost = std::max(lost, written - last->second);
    (unchecked > 0 ? verdict_.updates_unchecked : verdict_.updates) += written;
    if (unchecked == 0) {
      for (const auto& [what, count] : lost_by) verdict_.lost_updates_by[what] += count;
    }
    (unchecked > 0 ? verdict_.lost_updates_unchecked : verdict_.lost_updates) += lost;
    if (last != story_.numbers.end() && before != nullptr && perhaps == 0 && last->second != before->number &&
        excuse(*before, *before).empty()) {
      verdict_.violations.push_back({"lost update", "the file that " + name_.name.str() + " guards says " +
                                                        std::to_string(last->second) + " in the end, and not " +
                                                        std::to_string(before->number) + ": " + view_.words(*before)});
    }
  }

 private:
  static constexpr const char* kNothingKnown = "nothing that is known";

  /// What is known by which an update may be lost: a fault under which exclusion is not promised, or somebody who
  /// wrote, or perhaps did, when he did not have the lock any more. Empty: nothing.
  std::string excuse(const HeldOnce& before, const HeldOnce& hold) const {
    const auto fault = std::ranges::find_if(story_.faults, [&](const StruckFault& each) {
      return !each.exclusion_promised && each.concerns(name_.name) && each.began <= hold.released &&
             before.granted <= each.counted_until;
    });
    if (fault != story_.faults.end()) return fault->kind.str();
    const bool late = std::ranges::any_of(name_.holds, [&](const Held& held) {
      const HeldOnce& other = view_.hold(held);
      return other.number != 0 && other.granted <= hold.released && wrote_late(other) &&
             (other.open || other.released >= before.granted);
    });
    return late ? "written when the hold was over" : "";
  }
  /// It could not know that the lock was its own in the moment in which it wrote.
  bool wrote_late(const HeldOnce& hold) const {
    return hold.open || !hold.checked || story_.is_other(hold.client) || hold.released > hold.believed_until();
  }

  void violated(const HeldOnce& before, const HeldOnce& hold) {
    verdict_.violations.push_back({"lost update", "under " + name_.name.str() + ": " + view_.words(before) +
                                                      "; and then " + view_.words(hold) +
                                                      view_.near(name_.name, before.granted, hold.released)});
  }

  const View& view_;
  const Story& story_;
  const View::Name& name_;
  Verdict& verdict_;
};

}  // namespace

void judge_updates(const View& view, Verdict& verdict) {
  for (const View::Name& name : view.names()) Updates(view, name, verdict).judge();
}

}  // namespace holdfast::test
