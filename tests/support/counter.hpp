// SPDX-License-Identifier: Apache-2.0
// A number that shows whether two were inside at once: it is read, then time passes, then it is written.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace holdfast::test {

/// Who counts at the same time as somebody else loses a count. A test of exclusion counts under the lock and expects no
/// loss, and then counts as often with as many threads and no lock, which must lose some: else it could not have seen
/// anything.
class Counter {
 public:
  /// The two halves of an increment, with whatever takes time between them.
  long long read() const { return number_.load(std::memory_order_relaxed); }
  void write_next(long long read) {
    number_.store(read + 1, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_relaxed);
  }

  void increment() {
    const long long before = read();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    write_next(before);
  }

  long long calls() const { return calls_; }
  long long lost() const { return calls_ - number_; }

 private:
  std::atomic<long long> number_{0};
  std::atomic<long long> calls_{0};
};

/// The control: what so many threads lose that nothing keeps apart.
inline long long lost_without_a_lock(int threads, int rounds) {
  Counter counter;
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&] {
        for (int k = 0; k < rounds; ++k) counter.increment();
      });
    }
  }
  return counter.lost();
}

}  // namespace holdfast::test
