// SPDX-License-Identifier: Apache-2.0
#include "judges/judge.hpp"

#include <unordered_set>

#include "judges/judges.hpp"

namespace holdfast::test {
namespace {

void count(const View& view, Verdict& verdict) {
  const History& history = view.story().history;
  verdict.holds = static_cast<long long>(history.holds.size());
  verdict.failed_calls = static_cast<long long>(history.failures.size());
  verdict.names = static_cast<long long>(view.names().size());
  std::unordered_set<Text> clients;
  for (const HeldOnce& hold : history.holds) {
    clients.insert(hold.client);
    verdict.open_holds += hold.open ? 1 : 0;
    verdict.shared_holds += hold.shared ? 1 : 0;
  }
  for (const FailedCall& call : history.failures) {
    clients.insert(call.client);
    ++verdict.failed_by_word[call.word.empty() ? "not recorded" : call.word.str()];
  }
  verdict.clients = static_cast<long long>(clients.size());
  verdict.faults = static_cast<long long>(view.story().faults.size());
  for (const StruckFault& fault : view.story().faults) ++verdict.faults_by_kind[fault.kind.str()];
  verdict.safety_poll_wakes = view.story().safety_poll_wakes;
}

}  // namespace

Verdict judge(const Story& story) {
  Verdict verdict;
  const View view(story);
  count(view, verdict);
  judge_exclusion(view, verdict);
  judge_honesty(view, verdict);
  judge_waits(view, verdict);
  judge_free_locks(view, verdict);
  judge_updates(view, verdict);
  judge_counts(view, verdict);
  judge_tokens(view, verdict);
  judge_permits(view, verdict);
  judge_latches(view, verdict);
  return verdict;
}

}  // namespace holdfast::test
