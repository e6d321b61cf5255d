// SPDX-License-Identifier: Apache-2.0
// What the worker processes of the main job do. Each prints what happened on its standard output, one line per event.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace main_job {

inline constexpr std::chrono::milliseconds kLease{2000};

/// Milliseconds on the machine's steady clock, which is the same for all its processes.
double now_ms();

/// The counter file: a number as text, with nothing that protects it.
class Counter {
 public:
  explicit Counter(const std::string& file);
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter();
  long read() const;
  void write(long value) const;

 private:
  int descriptor_ = -1;
};

/// Runs the role that the arguments name and returns the exit status:
///   count FILE TIMES              waits for the end of its input, then adds 1 to the counter TIMES times, unprotected
///   count FILE TIMES URL LOCK     the same, each increment under the lock
///   hold URL LOCK                 takes the lock, prints `holding`, and works in small steps until the lock is lost;
///                                 then prints `lost STOPPED LAST`: whether the stop token had stopped when valid_for()
///                                 was first zero, and when the last step began that took the lock for valid
///   enter URL LOCK                prints `waiting`; takes the lock, prints `entered WHEN OWNER`; holds it until the
///   end
///                                 of its input
int run_worker(const std::vector<std::string>& arguments);

}  // namespace main_job
