// SPDX-License-Identifier: Apache-2.0
// What the later kinds have beyond a plain lock, between parties: a token for each grant, an order, a count.
#include "conformance.hpp"

namespace holdfast::test::later_kinds_test {
namespace {

/// The async face has a file of its own for all kinds.
constexpr Setting kEachRelation[] = {{Setting::Parties::threads, Setting::Face::std},
                                     {Setting::Parties::clients, Setting::Face::hold},
                                     {Setting::Parties::processes, Setting::Face::std}};
constexpr Setting kNearAndFar[] = {{Setting::Parties::threads}, {Setting::Parties::processes}};

class FencedLocks : public Conformance {
 protected:
  FencedLocks() { set("kind", "fenced"); }

  long long token(const std::string& name) {
    return std::stoll(site.raw(name).command("GET", "redisson_lock_token:{" + name + "}").text);
  }
};
HOLDFAST_CONFORMANCE(FencedLocks, kEachRelation);

TEST_P(FencedLocks, LoseNoUpdateAndCountEachGrant) {
  constexpr int kParties = 4, kEach = 20;
  set("lease_ms", 30s);
  a().lock("orders");
  EXPECT_EQ(token("orders"), 1);
  EXPECT_FALSE(b().try_lock("orders"));
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_EQ(token("orders"), 1) << "who does not get it counts nothing";
  const TempDir folder;
  const std::string file = folder.file("counter");
  std::vector<Pending> work;
  for (std::size_t i = 0; i < kParties; ++i) {
    work.push_back(party(i).start("increment", "orders", {file, std::to_string(kEach), "1"}));
  }
  for (const Pending& task : work) {
    const Answer answer = task.get();
    EXPECT_TRUE(answer.ok) << answer.text;
  }
  EXPECT_EQ(read_number(file), kParties * kEach);
  EXPECT_GE(token("orders"), 1 + kParties * kEach) << "none is passed on inside a client";
  EXPECT_TRUE(after_unlock([&] { return on_server("orders").empty(); }));
}

class FairLocks : public Conformance {
 protected:
  /// A turn that nobody needs who lives.
  FairLocks() {
    set("kind", "fair");
    set("fair_turn_ms", 1min);
    set("lease_ms", 1min);
  }
  bool queued(long long parties) {
    return eventually(
        [&] { return site.raw("orders").command("LLEN", "redisson_lock_queue:{orders}").integer == parties; });
  }
};
HOLDFAST_CONFORMANCE(FairLocks, kEachRelation);

TEST_P(FairLocks, EnterInTheOrderOfTheirArrivalWithoutWhoHasLeft) {
  a().lock("orders");
  std::vector<Pending> entering;
  for (std::size_t i = 1; i <= 4; ++i) {
    entering.push_back(party(i).start_lock("orders"));
    ASSERT_TRUE(queued(static_cast<long long>(i)));
  }
  EXPECT_FALSE(party(5).try_lock("orders"));
  EXPECT_TRUE(party(2).cancel(entering[1]));
  EXPECT_EQ(entering[1].get(kPrompt).word(), "cancelled");
  EXPECT_TRUE(queued(3));
  for (const std::size_t i : {1U, 3U, 4U}) party(i).start_unlock("orders");
  const Answer released = a().start_unlock("orders").get();
  Answer::Time before = released.began;
  for (const std::size_t i : {0U, 2U, 3U}) {
    const Answer entered = entering[i].get();
    ASSERT_TRUE(entered.ok) << entered.text;
    EXPECT_GT(entered.ended, before) << i;
    before = entered.ended;
  }
  EXPECT_LT(before - released.began, kPrompt);
  EXPECT_TRUE(queued(0));
}

/// Under a name of no lock.
class Counts : public Conformance {
 protected:
  Counts() { set("lease_ms", 1min); }

  const std::string kName = "counted";

  Pending start(std::size_t i, const std::string& what, const std::string& number, const std::string& wait_ms = "0") {
    return party(i).start("counting", what, {kName, number, wait_ms});
  }
  std::string counting(std::size_t i, const std::string& what, const std::string& number = "1",
                       const std::string& wait_ms = "0") {
    return start(i, what, number, wait_ms).get().word();
  }
};
HOLDFAST_CONFORMANCE(Counts, kNearAndFar);

TEST_P(Counts, AsManyHavePermitsAsThereAre) {
  for (const std::string kind : {"semaphore", "leased"}) {
    SCOPED_TRACE(kind);
    EXPECT_EQ(counting(0, kind + ".set", "2"), "yes");
    EXPECT_NE(counting(0, kind + ".try"), "no");
    EXPECT_NE(counting(1, kind + ".try"), "no");
    EXPECT_EQ(counting(2, kind + ".try"), "no");
    const Pending waiting = start(2, kind + ".try", "1", "60000");
    EXPECT_FALSE(waiting.answered(50ms));
    counting(0, kind + ".release");
    const Answer taken = waiting.get();
    EXPECT_NE(taken.word(), "no");
    EXPECT_TRUE(taken.ok) << taken.text;
    counting(1, kind + ".release");
    counting(2, kind + ".release");
    EXPECT_EQ(counting(1, kind + ".available"), "2");
    site.raw(kName).command("DEL", kName);
  }
}

TEST_P(Counts, ALatchOpensForAllAtTheLastStep) {
  EXPECT_EQ(counting(0, "latch.set", "2"), "yes");
  const Pending first = start(1, "latch.wait", "0", "60000"), second = start(2, "latch.wait", "0", "60000");
  counting(0, "latch.count_down");
  EXPECT_FALSE(first.answered(50ms));
  EXPECT_FALSE(second.answered());
  counting(0, "latch.count_down");
  EXPECT_EQ(first.get(kPrompt).word(), "yes");
  EXPECT_EQ(second.get(kPrompt).word(), "yes");
}

}  // namespace
}  // namespace holdfast::test::later_kinds_test
