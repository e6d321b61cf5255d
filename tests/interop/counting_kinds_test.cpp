// SPDX-License-Identifier: Apache-2.0
// Semaphores and latches of Holdfast and of Redisson: one number, for both.
#include "interop.hpp"

namespace holdfast::test::counting_kinds_test {
namespace {

const std::string kSemaphoreChannel = "redisson_sc:{permits}";
const std::string kLatchChannel = "redisson_countdownlatch__channel__{steps}";

class CountingKinds : public Interop {
 protected:
  static std::string number(long long value) { return std::to_string(value); }
  static Party beside(Party& party, int thread = 2) { return {party.taker(), thread}; }

  static Pending start_on(Party party, const std::string& what, const std::string& name, long long value = 0,
                          milliseconds time = 0ms) {
    return party.start("counting", what, {name, number(value), number(time.count())});
  }
  static std::string on(Party party, const std::string& what, const std::string& name, long long value = 0,
                        milliseconds time = 0ms) {
    const Answer answer = start_on(std::move(party), what, name, value, time).get();
    EXPECT_TRUE(answer.ok) << what << ": " << answer.text;
    return answer.word();
  }
  std::string stored() { return raw.command("GET", "permits").text; }
};
HOLDFAST_INTEROP(CountingKinds, both_ways(kRedissons));

TEST_P(CountingKinds, ASemaphoreIsOneNumber) {
  EXPECT_EQ(on(holder(), "semaphore.set", "permits", 4), "yes");
  EXPECT_EQ(on(other(), "semaphore.set", "permits", 7), "no");
  on(holder(), "semaphore.acquire", "permits", 3);
  EXPECT_EQ(on(other(), "semaphore.available", "permits"), "1");
  EXPECT_EQ(on(other(), "semaphore.try", "permits", 2, 100ms), "no");
  EXPECT_EQ(on(other(), "semaphore.try", "permits", 1, 100ms), "yes");
  on(holder(), "semaphore.add", "permits", 3);
  on(other(), "semaphore.release", "permits", 2);
  EXPECT_EQ(on(other(), "semaphore.available", "permits"), "5");
  EXPECT_EQ(on(holder(), "semaphore.drain", "permits"), "5");
  EXPECT_EQ(stored(), "0");
}

TEST_P(CountingKinds, WhoWaitsForASemaphoreIsWokenByTheOther) {
  on(holder(), "semaphore.set", "permits", 0);
  const Pending waiting = start_on(other(), "semaphore.try", "permits", 2, 30s);
  ASSERT_TRUE(listening(kSemaphoreChannel, 1));
  on(holder(), "semaphore.release", "permits", 1);
  EXPECT_FALSE(waiting.answered(100ms)) << "it wants two";
  const auto released = steady_clock::now();
  on(holder(), "semaphore.release", "permits", 1);  // addPermits of Redisson tells nobody before 3.16.2
  const Answer entered = waiting.get();
  EXPECT_EQ(entered.word(), "yes");
  EXPECT_LT(entered.ended - released, kPrompt);
  EXPECT_EQ(stored(), "0");
}

TEST_P(CountingKinds, PermitsOfBothSidesAreCountedTogether) {
  EXPECT_EQ(on(holder(), "leased.set", "permits", 2), "yes");
  const std::string id = on(holder(), "leased.acquire", "permits");
  EXPECT_NE(on(other(), "leased.try", "permits", 0, 100ms), "no");
  EXPECT_EQ(on(beside(holder()), "leased.try", "permits", 0, 100ms), "no");
  EXPECT_EQ(on(beside(other()), "leased.try", "permits", 0, 100ms), "no");
  EXPECT_EQ(raw.command("ZCARD", "{permits}:timeout").integer, 2);
  EXPECT_EQ(on(other(), "leased.available", "permits"), "0");
  EXPECT_EQ(on(other(), "leased.release", "permits"), "released");
  EXPECT_EQ(on(holder(), "leased.available", "permits"), "1");
  EXPECT_EQ(on(holder(), "leased.release", "permits"), "released");
  EXPECT_EQ(id.size(), 32U);
  EXPECT_EQ(stored(), "2");
  EXPECT_EQ(raw.command("ZCARD", "{permits}:timeout").integer, 0);
}

TEST_P(CountingKinds, WhoWaitsForAPermitIsWokenByTheOther) {
  on(holder(), "leased.set", "permits", 1);
  on(holder(), "leased.acquire", "permits");
  const Pending waiting = start_on(other(), "leased.try", "permits", 0, 30s);
  ASSERT_TRUE(listening(kSemaphoreChannel, 1));
  EXPECT_FALSE(waiting.answered(100ms));
  const auto released = steady_clock::now();
  on(holder(), "leased.release", "permits");
  const Answer entered = waiting.get();
  EXPECT_NE(entered.word(), "no");
  EXPECT_LT(entered.ended - released, kPrompt);
}

TEST_P(CountingKinds, ASemaphoreThatOneSideRemovesIsGoneForTheOther) {
  EXPECT_EQ(on(holder(), "semaphore.set", "permits", 4), "yes");
  on(other(), "semaphore.acquire", "permits", 1);
  EXPECT_EQ(on(holder(), "semaphore.remove", "permits"), "yes");
  EXPECT_EQ(on(other(), "semaphore.remove", "permits"), "no");
  EXPECT_FALSE(raw.exists("permits"));
  EXPECT_EQ(on(other(), "semaphore.set", "permits", 3), "yes");
  EXPECT_EQ(on(holder(), "semaphore.available", "permits"), "3");
}

/// Redisson's delete() takes them from their holders; after that of Holdfast they are counted when it is made again.
TEST_P(CountingKinds, WhatIsHeldOfARemovedSemaphoreStaysHeldUnlessRedissonRemovedIt) {
  const bool stays = first_side() == Side::holdfast;
  EXPECT_EQ(on(holder(), "leased.set", "permits", 2), "yes");
  on(other(), "leased.acquire", "permits");
  EXPECT_EQ(on(holder(), "leased.remove", "permits"), "yes");
  EXPECT_FALSE(raw.exists("permits"));
  EXPECT_EQ(raw.command("ZCARD", "{permits}:timeout").integer, stays ? 1 : 0);
  EXPECT_EQ(on(holder(), "leased.set", "permits", 2), "yes");
  EXPECT_EQ(on(holder(), "leased.available", "permits"), stays ? "1" : "2");
  EXPECT_EQ(on(other(), "leased.release", "permits"), stays ? "released" : "was_lost");
  EXPECT_EQ(stored(), "2");
  EXPECT_EQ(raw.command("ZCARD", "{permits}:timeout").integer, 0);
}

/// Of Redisson's side a fixed one, since it renews none; of Holdfast's one that was renewed until then.
TEST_P(CountingKinds, ThePermitOfAKilledProcessIsTakenWhenItsLeaseEnds) {
  on(holder(), "leased.set", "permits", 1);
  on(other(), "leased.available", "permits");  // it is there
  on(holder(), "leased.acquire", "permits", first_side() == Side::peer ? 1000 : 0);
  kill(holder().taker());
  const auto killed = steady_clock::now();
  EXPECT_NE(on(other(), "leased.try", "permits", 0, 20s), "no");
  EXPECT_LT(steady_clock::now() - killed, kLease + kPrompt);
}

TEST_P(CountingKinds, ALatchOpensForBoth) {
  EXPECT_EQ(on(holder(), "latch.set", "steps", 3), "yes");
  EXPECT_EQ(on(other(), "latch.set", "steps", 3), "no");
  const Pending one = start_on(beside(holder()), "latch.wait", "steps", 0, 30s);
  const Pending two = start_on(beside(other()), "latch.wait", "steps", 0, 30s);
  ASSERT_TRUE(listening(kLatchChannel, 2));
  on(holder(), "latch.count_down", "steps", 1);
  on(other(), "latch.count_down", "steps", 1);
  EXPECT_EQ(on(other(), "latch.count", "steps"), "1");
  EXPECT_FALSE(one.answered(100ms));
  const auto opened = steady_clock::now();
  on(holder(), "latch.count_down", "steps", 1);
  for (const Pending& each : {one, two}) {
    const Answer passed = each.get();
    EXPECT_EQ(passed.word(), "yes") << passed.text;
    EXPECT_LT(passed.ended - opened, kPrompt);
  }
  EXPECT_EQ(on(holder(), "latch.set", "steps", 1), "yes") << "and can be set again";
}

/// Two processes of each side take and give back, each with three threads, and the number is sampled meanwhile.
class CountingTogether : public CountingKinds {
 protected:
  void cycle(const std::string& kind, int permits) {
    const std::vector<Taker*> takers = start({Side::peer, Side::peer, Side::holdfast, Side::holdfast});
    on(Party(*takers.back(), 9), kind + ".set", "permits", permits);
    std::vector<Pending> work;
    for (Taker* taker : takers) {
      for (int thread = 1; thread <= 3; ++thread) {
        work.push_back(start_on(Party(*taker, thread), kind + ".cycle", "permits", 1, 2s));
      }
    }
    long long least = permits;
    const auto end = steady_clock::now() + 2s;
    while (steady_clock::now() < end) least = std::min(least, std::stoll(stored()));
    long long of_peer = 0, of_holdfast = 0;
    for (std::size_t i = 0; i < work.size(); ++i) {
      const Answer answer = work[i].get();
      ASSERT_TRUE(answer.ok) << answer.text;
      (i < work.size() / 2 ? of_peer : of_holdfast) += std::stoll(answer.value);
    }
    EXPECT_EQ(least, 0) << "all were in use, and never more than there are";
    EXPECT_GT(of_peer, 0);
    EXPECT_GT(of_holdfast, 0);
    EXPECT_EQ(stored(), number(permits)) << "all came back";
    EXPECT_EQ(raw.command("ZCARD", "{permits}:timeout").integer, 0);
    figure_shares(of_peer, of_holdfast);
  }
};
HOLDFAST_INTEROP(CountingTogether, once(kRedissons));

TEST_P(CountingTogether, NoPermitIsMadeOrLost) { cycle("semaphore", 3); }
TEST_P(CountingTogether, NoLeasedPermitIsMadeOrLost) { cycle("leased", 3); }

}  // namespace
}  // namespace holdfast::test::counting_kinds_test
