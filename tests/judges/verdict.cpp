// SPDX-License-Identifier: Apache-2.0
#include "judges/verdict.hpp"

#include <sstream>

#include <boost/json.hpp>

#include "judges/view.hpp"

namespace holdfast::test {
namespace {

namespace json = boost::json;

json::object counts(const std::map<std::string, long long>& from) {
  json::object made;
  for (const auto& [kind, count] : from) made[kind] = count;
  return made;
}

std::map<std::string, long long> by_promise(const std::vector<Violation>& violations) {
  std::map<std::string, long long> counted;
  for (const Violation& each : violations) ++counted[each.promise];
  return counted;
}

void by_what(std::ostream& out, const char* title, const std::map<std::string, long long>& counted) {
  if (counted.empty()) return;
  out << title << ":";
  for (const auto& [what, count] : counted) out << " " << what << " " << count << ";";
  out << "\n";
}

double in_milliseconds(Microseconds time) { return static_cast<double>(time) / 1000; }

}  // namespace

std::string Verdict::json() const {
  const json::object all{
      {"holds", holds},
      {"failed_calls", failed_calls},
      {"open_holds", open_holds},
      {"shared_holds", shared_holds},
      {"tokens", tokens},
      {"latches", latches},
      {"plain_counted", plain_counted},
      {"names", names},
      {"clients", clients},
      {"faults_struck", faults},
      {"faults", counts(faults_by_kind)},
      {"failed_by_word", counts(failed_by_word)},
      {"violations", violations.size()},
      {"violations_by_promise", counts(by_promise(violations))},
      {"overlaps_counted", overlaps_counted},
      {"overlaps_of_others", overlaps_of_others},
      {"overlap_median_ms", in_milliseconds(overlapped.median)},
      {"overlap_worst_ms", in_milliseconds(overlapped.worst)},
      {"lost_holds", lost},
      {"forgotten_holds", forgotten},
      {"told_median_ms", in_milliseconds(told.median)},
      {"told_worst_ms", in_milliseconds(told.worst)},
      {"told_at_deadline_median_ms", in_milliseconds(told_at_deadline.median)},
      {"told_at_deadline_worst_ms", in_milliseconds(told_at_deadline.worst)},
      {"wait_median_ms", in_milliseconds(wait.median)},
      {"wait_worst_ms", in_milliseconds(longest_acquire)},
      {"release_worst_ms", in_milliseconds(longest_release)},
      {"free_while_waited_for_worst_ms", in_milliseconds(longest_free)},
      {"free_while_waited_for_undisturbed_worst_ms", in_milliseconds(longest_free_undisturbed)},
      {"free_while_waited_for_long", long_free},
      {"safety_poll_wakes", safety_poll_wakes},
      {"updates", updates},
      {"lost_updates", lost_updates},
      {"updates_unchecked", updates_unchecked},
      {"lost_updates_unchecked", lost_updates_unchecked},
      {"overlaps_counted_by", counts(overlaps_counted_by)},
      {"forgotten_by", counts(forgotten_by)},
      {"lost_updates_by", counts(lost_updates_by)},
      {"outcomes_judged", outcomes_judged},
      {"outcome_pieces", outcome_pieces},
      {"outcome_pieces_undecided", outcome_pieces_undecided},
  };
  return json::serialize(all);
}

std::string Verdict::text(std::size_t most) const {
  std::ostringstream out;
  out << holds << " holds of " << names << " locks by " << clients << " clients, " << failed_calls << " failed calls, "
      << open_holds << " holds whose process ended, " << faults << " faults\n";
  out << "among them " << shared_holds << " shared holds, " << tokens << " tokens; " << latches << " latches; "
      << plain_counted << " times what was left of them, or of plain permits, was judged\n";
  out << overlaps_counted << " overlaps that are only counted (" << in_ms(overlapped) << "), " << overlaps_of_others
      << " of others; " << lost << " holds lost, " << forgotten << " of them by the servers, told: " << in_ms(told)
      << "; told at the deadline: " << in_ms(told_at_deadline) << "\n";
  out << "waits: " << in_ms(wait) << "\n";
  if (!longest_acquire_by.empty()) out << "  the longest: " << longest_acquire_by << "\n";
  out << "longest release: " << in_ms(longest_release) << "\n";
  if (!longest_release_by.empty()) out << "  " << longest_release_by << "\n";
  out << "free while somebody waited: " << in_ms(longest_free) << " at most, " << in_ms(longest_free_undisturbed)
      << " far from faults, " << long_free << " times longer than half a safety poll; " << safety_poll_wakes
      << " found by a safety poll\n";
  if (!longest_free_at.empty()) out << "  " << longest_free_at << "\n";
  out << "updates: " << updates << ", lost " << lost_updates << "; without checks " << updates_unchecked << ", lost "
      << lost_updates_unchecked << "\n";
  by_what(out, "overlaps by", overlaps_counted_by);
  by_what(out, "forgotten by", forgotten_by);
  by_what(out, "updates lost by", lost_updates_by);
  out << "outcomes judged: " << outcomes_judged << " in " << outcome_pieces << " pieces, " << outcome_pieces_undecided
      << " of them undecided\n";
  out << violations.size() << " violations\n";
  for (std::size_t i = 0; i < violations.size() && i < most; ++i) {
    out << "  " << violations[i].promise << ": " << violations[i].text << "\n";
  }
  return out.str();
}

}  // namespace holdfast::test
