// SPDX-License-Identifier: Apache-2.0
// One instance of a periodic job that must run on one instance only.
#pragma once

#include <chrono>
#include <string>

namespace periodic_job {

inline constexpr std::chrono::milliseconds kLease{1000};  // somebody else leads this long after a crash, at most
inline constexpr std::chrono::milliseconds kTerm{1500};   // then the leader lets others have their turn
inline constexpr std::chrono::milliseconds kEvery{100};   // from one run of the job to the next
inline constexpr std::chrono::milliseconds kWork{30};     // what one run takes

/// Milliseconds on the machine's steady clock, which is the same for all its processes.
double now_ms();

/// Waits to be the leader, runs the job as long as it is, and so on until SIGINT or SIGTERM. Appends to `file`, a line
/// each, `WHEN NAME WHAT`, where WHAT is one of:
///   leads    it has the lock
///   begin    a run of the job begins; WHEN it did, the lock was certainly this instance's
///   end      the run is done; the same is true of this WHEN
///   lost     it has lost the lock; the run under way, if any, was cancelled
///   yields   it has stepped down by itself
void run(const std::string& url, const std::string& file, const std::string& name);

}  // namespace periodic_job
