// SPDX-License-Identifier: Apache-2.0
// What a held lock costs the client in memory.
#include <iostream>
#include <malloc.h>
#include <string>
#include <vector>

#include "faults.hpp"

namespace holdfast::test::held_memory_test {
namespace {

class HeldMemory : public Faults {};

TEST_F(HeldMemory, IsLittleForEachLockAndItsWatchedKey) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more for itself";
#else
  constexpr std::size_t kHolds = 4000;
  Config settings = config();
  settings.lease = 60s;  // no renewal comes meanwhile, for which there are buffers
  Client client(settings);
  client.lock("first").acquire().release();
  std::vector<Hold> holds(kHolds);
  std::vector<std::future<void> > callers;
  const std::size_t before = mallinfo2().uordblks;
  constexpr std::size_t kCallers = 8;
  for (std::size_t first = 0; first < kCallers; ++first) {
    callers.push_back(in_thread([&, first] {
      for (std::size_t i = first; i < kHolds; i += kCallers) holds[i] = client.lock(std::to_string(i)).acquire();
    }));
  }
  for (std::future<void>& each : callers) each.get();
  std::size_t bytes = 0;
  EXPECT_TRUE(eventually([&] {
    bytes = (mallinfo2().uordblks - before) / kHolds;
    return client.counters().watched == kHolds && bytes < 520;
  }));
  std::cout << bytes << " bytes for each of " << kHolds << " held locks\n";
  RecordProperty("bytes_per_hold", static_cast<int>(bytes));
#endif
}

}  // namespace
}  // namespace holdfast::test::held_memory_test
