// SPDX-License-Identifier: Apache-2.0
// A taker: a program that takes and gives back locks as it is told, so that tests can run between processes, and
// between languages: a taker on another library speaks the same lines.
//
// Input is one command per line, answers are one line each on the output:
//
//   TAG COMMAND ARGUMENT...                          TAG BEGAN ENDED ok [VALUE]
//                                                    TAG BEGAN ENDED error WORD TEXT
//
// Fields stand between single spaces. In each, bytes outside of `!` to `~`, and `%`, are written `%XX`. TAG is any text
// that tells the answers apart; answers come when they are ready, not in order. BEGAN and ENDED are microseconds of the
// machine's monotonic clock (C++: steady_clock, Java: System.nanoTime / 1000), taken right before and after the call.
// T is a number that stands for one real thread of the taker. Its commands run in order; those of different threads
// run at the same time. Locking is per thread, re-entrant, as in Redisson. Commands without a T run on thread 0.
//
//   connect URL [KEY=VALUE...]     value: the client's id. Keys: lease_ms (of a renewed lock), safety_poll_ms,
//                                  subscription_linger_ms, command_timeout_ms, release_timeout_ms, patience_ms,
//                                  name_prefix, on_close=leave (holds stay when the client closes),
//                                  acks_timeout_ms, handoff_ms, pipelined_release=yes, record=FILE (C++ only: a line in
//                                  it for each command that changes a lock),
//                                  events=FILE (C++ only: a line in it for each connection),
//                                  face=std|hold|async (C++ only: which face of the library, see tests/README.md;
//                                  hold and async are not re-entrant),
//                                  kind=lock|non_reentrant|simple|fenced|leader|fair|spin|leased|any|read_write|multi|red
//                                  |by_name and over=lock|simple: see tests/README.md; spin_max_ms
//   lock T NAME [LEASE_MS]         waits for the lock; without a lease, or 0: renewed
//   try T NAME WAIT_MS [LEASE_MS]  value: yes, or no when it is held by somebody else; a wait of 0 asks once
//   unlock T NAME                  value: released, still_held, was_lost or unknown; error not_owner. A taker that
//                                  cannot tell was_lost from not_owner answers not_owner. Where unlocking does not
//                                  wait for the server, the answer does, and the thread goes on
//   cancel TAG                     stops a lock or try that is under way; value: yes if there was one. That one
//                                  answers `error cancelled`
//   force NAME                     value: yes if it was held
//   locked NAME                    value: yes or no
//   ttl NAME                       value: milliseconds, or none
//   mine T NAME, count T NAME      value: yes or no; a number
//   valid T NAME, lost T NAME      C++ only. value: milliseconds; yes if the loss signal fired
//   increment T NAME FILE N [PAUSE_MS]
//                                  N times: lock, read the number in FILE, pause, write it back plus 1, unlock
//   increment_for T NAME FILE MS [PAUSE_MS]
//                                  the same for so long; value: how often
//   compare_for T NAME FILE MS PAUSE_MS GAP_MS
//                                  for so long: lock, read the number in FILE, pause, read it again, unlock, and wait
//                                  for the gap. value: how often, `/`, and how often the two differed
//   hold_for T NAME FILE MS RECORD [PAUSE_MS [WAIT_MS [WAY]...]]
//                                  increment_for with a line in RECORD for each hold, see tests/README.md; value: how
//                                  many numbers were written. `cancel` ends it
//   counting T WHAT NAME NUMBER MS semaphores and latches (C++ and Redisson). WHAT: semaphore.set, add, available,
//                                  remove, drain, try, acquire, release, cycle; leased.set, add, available, remove,
//                                  acquire, try (value: the permit's id, or no), release, cycle; latch.set, count_down,
//                                  count, wait
//   counters                       C++ only. value: `name=number` between spaces
//   close                          closes the client; waits end with `error closed`
//   exit                           closes everything and ends with status 0, as the end of the input does
//
// Error words: busy, timed_out, cancelled, lost, not_owner, unreachable, unknown_outcome, denied, wrong_type,
// invalid_argument, closed, failed (anything else of the library), usage (a mistake of the driver).
#include <iostream>
#include <string>

#include "taker_session.hpp"

namespace {

bool is_exit(const std::string& line) {
  const std::size_t space = line.find(' ');
  return space != std::string::npos && line.compare(space + 1, std::string::npos, "exit") == 0;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);  // or reading would flush std::cout beside the threads that answer
  holdfast::test::TakerSession session([](const std::string& line) { std::cout << line << std::endl; });
  for (std::string line; std::getline(std::cin, line) && !is_exit(line);) session.submit(line);
  return 0;
}
