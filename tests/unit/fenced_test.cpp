// SPDX-License-Identifier: Apache-2.0
// The fenced lock's calls, and the checker of its tokens.
#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/fence.hpp>

#include "kinds/fenced_lock.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::test::fenced_test {
namespace {

using base::Reply;
using testing::ElementsAre;
using namespace std::chrono_literals;
namespace fenced = wire::fenced;

const wire::Owner kOwner{"376fe4aa-10ea-4e60-b8ed-a49082e92014:57"};

Reply integer(std::int64_t value) { return {Reply::Kind::integer, value, {}, {}}; }
Reply array(std::vector<Reply> elements) { return {Reply::Kind::array, 0, {}, std::move(elements)}; }

TEST(FencedCalls, AcquireHasTheCounterAsASecondKey) {
  const wire::LockNames names{"orders", "redisson_lock__channel:{orders}"};
  const base::Command command = fenced::acquire({{&names, 1}, kOwner, 30s, true});
  EXPECT_EQ(command.script, &wire::scripts::lock_acquire);
  EXPECT_THAT(command.args, ElementsAre("2", "orders", "redisson_lock_token:{orders}", "30000", kOwner.text,
                                        "redisson_lock__channel:{orders}"));
  EXPECT_EQ(fenced::counter("{t}x"), "redisson_lock_token:{t}x");
}

TEST(FencedCalls, AGrantHasAToken) {
  const wire::AcquireReply granted = fenced::decode_acquire(array({integer(-1), integer(7)}));
  EXPECT_TRUE(granted.granted);
  EXPECT_EQ(granted.grant.token, 7);
  EXPECT_FALSE(fenced::decode_acquire(Reply{}).granted) << "no grant without a token";
}

TEST(FencedCalls, BusyIsAsForThePlainLock) {
  EXPECT_EQ(fenced::decode_acquire(integer(-1)).busy_for, -1ms) << "taken, without an expiry";
  const wire::AcquireReply busy = fenced::decode_acquire(array({integer(1), integer(-1), integer(3)}));
  EXPECT_FALSE(busy.granted);
  EXPECT_EQ(busy.busy_for, -1ms);
  EXPECT_EQ(busy.listeners, 3);
}

TEST(FencedCalls, TheLatestTokenIsANumberOrNone) {
  EXPECT_EQ(fenced::decode_latest_token({Reply::Kind::text, 0, "12", {}}), 12);
  EXPECT_EQ(fenced::decode_latest_token(Reply{}), 0);
}

TEST(Fence, AdmitsWhatIsNotLower) {
  Fence fence;
  EXPECT_TRUE(fence.admit(1));
  EXPECT_TRUE(fence.admit(3));
  EXPECT_TRUE(fence.admit(3)) << "the same owner";
  EXPECT_FALSE(fence.admit(2));
  EXPECT_EQ(fence.highest(), 3);
}

TEST(Fence, BeginsWhereItsStoreHasBeen) {
  Fence fence(41);
  EXPECT_FALSE(fence.admit(40));
  EXPECT_TRUE(fence.admit(42));
}

TEST(Fence, NeverGoesBackUnderManyThreads) {
  Fence fence;
  std::atomic<bool> fell = false;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::int64_t token = thread; token < 40'000; token += 4) {
          const bool admitted = fence.admit(token);
          const std::int64_t seen = fence.highest();
          if (seen < token || (!admitted && seen == token)) fell = true;
        }
      });
    }
  }
  EXPECT_FALSE(fell);
  EXPECT_EQ(fence.highest(), 39'999);
}

}  // namespace
}  // namespace holdfast::test::fenced_test
