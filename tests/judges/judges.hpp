// SPDX-License-Identifier: Apache-2.0
// The judges one by one. Each adds to the verdict what it finds.
#pragma once

#include "judges/verdict.hpp"
#include "judges/view.hpp"

namespace holdfast::test {

/// No two believe in one lock at once, but for its readers; and of a semaphore no more than there are permits.
void judge_exclusion(const View& view, Verdict& verdict);
/// Whose lock is lost is told, in the promised time, and there is a cause.
void judge_honesty(const View& view, Verdict& verdict);
/// Waits and releases end within their bounds.
void judge_waits(const View& view, Verdict& verdict);
/// A lock that is free while somebody waits, for it or for any one of several, is taken within the safety poll.
void judge_free_locks(const View& view, Verdict& verdict);
/// No update of what the lock guards is lost.
void judge_updates(const View& view, Verdict& verdict);
/// Whoever enters twice leaves twice.
void judge_counts(const View& view, Verdict& verdict);
/// Tokens grow with each grant.
void judge_tokens(const View& view, Verdict& verdict);
/// In the end there are as many permits as there were; of plain ones whenever somebody looks, but for those that went
/// with a process, or that nobody knows of.
void judge_permits(const View& view, Verdict& verdict);
/// A latch opens with its last step, not before, and for all who wait.
void judge_latches(const View& view, Verdict& verdict);

}  // namespace holdfast::test
