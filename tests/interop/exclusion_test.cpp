// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion between Redisson and Holdfast, in processes of both.
#include "counting.hpp"

namespace holdfast::test::exclusion_test {
namespace {

class Exclusion : public Counting {
 protected:
  Exclusion() { set("lease_ms", 30s); }
};
HOLDFAST_INTEROP(Exclusion, once(kRedissons));

TEST_P(Exclusion, FourProcessesLoseNoUpdateAndBothSidesMakeProgress) {
  expect_exclusion_and_progress(two_processes_each(1, "counter"));
}

TEST_P(Exclusion, FourProcessesWithTwoThreadsEachLoseNoUpdateAndBothSidesMakeProgress) {
  expect_exclusion_and_progress(two_processes_each(2, "counter"));
}

TEST_P(Exclusion, AsyncCallsOfHoldfastLoseNoUpdateAndBothSidesMakeProgress) {
  set_face("async");
  expect_exclusion_and_progress(two_processes_each(2, "counter"));
}

/// That the cases above can fail.
TEST_P(Exclusion, UpdatesAreLostWhereEachHasALockOfItsOwn) {
  std::vector<Worker> workers = two_processes_each(2, "counter");
  for (std::size_t i = 0; i < workers.size(); ++i) workers[i].name += std::to_string(i);
  const Counts counts = count_up(workers, 300ms);
  EXPECT_LT(counted(), counts.sum());
}

}  // namespace
}  // namespace holdfast::test::exclusion_test
