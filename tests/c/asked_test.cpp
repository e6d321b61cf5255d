// SPDX-License-Identifier: Apache-2.0
// Who waits to hear that somebody asks for a lock. Of each kind: kinds_test.cpp.
#include <poll.h>

#include "c/c.hpp"

namespace holdfast::test::c::asked_test {
namespace {

class Asked : public Calls {};

TEST_F(Asked, AllWhoWaitAreToldAndWhatNobodyFetchedIsKept) {
  const Lock orders = lock();
  Hold hold = held(orders);
  const auto ask = [&] {
    std::size_t heard = 0;
    EXPECT_TRUE(soon([&] { return hf_lock_ask_release(orders, &heard) == HF_OK && heard == 1; }));
  };
  Queue second;
  ASSERT_TRUE(ok(hf_queue_new(second.out())));
  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, queue, 1)));
  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, queue, 2)));
  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, second, 1)));
  hf_queue_cancel(queue, 1);
  EXPECT_EQ(next(queue).code, HF_CANCELLED);
  ask();
  EXPECT_EQ(next(queue).tag, 2U);
  pollfd ready{hf_queue_fd(second), POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, kPatience), 1);
  second.free();

  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, queue, 3)));
  Completed told = next(queue);
  EXPECT_EQ(told.code, HF_OK) << told.text;
  EXPECT_GE(told.value, 1) << "nobody fetched it from the second queue";

  ASSERT_TRUE(ok(hf_queue_new(second.out())));
  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, second, 1)));
  second.free();
  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, queue, 4)));
  raw.flushall();
  told = next(queue);
  EXPECT_EQ(told.tag, 4U);
  EXPECT_EQ(told.code, HF_LOST);
  ASSERT_TRUE(ok(hf_hold_wait_asked_async(hold, queue, 5)));
  EXPECT_EQ(next(queue).code, HF_LOST);
}

}  // namespace
}  // namespace holdfast::test::c::asked_test
