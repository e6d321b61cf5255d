// SPDX-License-Identifier: Apache-2.0
// The golden vectors of the plain lock, what Redisson does to a server step by step, replayed with Holdfast's scripts.
//
// Where Holdfast differs on purpose: re-entry is counted in the client and every outermost acquisition has an owner of
// its own, so the field stays at 1 where Redisson counts to 2. A repeated acquire by one owner is a resend, and one
// release frees. There is no unlock latch: a resent release finds nothing and says nil, where Redisson's would repeat
// the first answer from the latch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scripts/script_call.hpp"
#include "support/listen.hpp"

namespace holdfast::test::lock_golden_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using Fields = std::map<std::string, std::string>;

constexpr milliseconds kThirtySeconds{30'000};

class GoldenLock : public testing::Test {
 protected:
  bool alone_on_the_server(const std::string& key) { return raw.command("DBSIZE").integer == 1 && raw.exists(key); }

  RedisServer server;
  Raw raw{server};
  Subscriber subscriber{server};
  const wire::LockNames L = wire::lock::names("L");
};

TEST_F(GoldenLock, acquire_busy_reacquire_release) {
  EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(L, kA, kThirtySeconds))).granted);
  EXPECT_EQ(raw.hgetall("L"), (Fields{{kA.text, "1"}}));
  EXPECT_GT(raw.pttl("L"), 15'000);
  EXPECT_LE(raw.pttl("L"), 30'000);

  const wire::AcquireReply busy = wire::decode_acquire(run(raw, lock::acquire(L, kB, kThirtySeconds)));
  EXPECT_FALSE(busy.granted);
  ASSERT_TRUE(busy.busy_for.has_value());
  EXPECT_GT(*busy.busy_for, milliseconds(15'000));
  EXPECT_LE(*busy.busy_for, kThirtySeconds);

  EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(L, kA, milliseconds(5'000)))).granted);
  EXPECT_EQ(raw.hgetall("L"), (Fields{{kA.text, "1"}})) << "2 with Redisson, see the head of this file";
  EXPECT_LE(raw.pttl("L"), 5'000) << "a new lease replaces the old one, downwards too";

  EXPECT_TRUE(run(raw, lock::release(L, kB)).is_null());
  EXPECT_TRUE(alone_on_the_server("L")) << "no latch";
  EXPECT_THAT(subscriber.messages(), IsEmpty());

  EXPECT_TRUE(wire::decode_release(run(raw, lock::release(L, kA))));
  EXPECT_EQ(raw.command("DBSIZE").integer, 0) << "no latch";
  EXPECT_THAT(subscriber.messages(), ElementsAre(Message{"redisson_lock__channel:{L}", "0"}));

  const Reply again = run(raw, lock::release(L, kA));
  EXPECT_TRUE(again.is_null());
  EXPECT_FALSE(wire::decode_release(again));
  EXPECT_EQ(subscriber.messages().size(), 1U) << "a resent release wakes nobody a second time";
}

TEST_F(GoldenLock, renewal_of_one_held_and_one_absent) {
  const wire::LockNames a = wire::lock::names("a");
  run(raw, lock::acquire(a, kA, milliseconds(5'000)));
  const Reply reply = run(raw, wire::lock::renew({{"a", kA.text}, {"x", kA.text}}, kThirtySeconds));
  EXPECT_THAT(wire::decode_renew(reply, 2), ElementsAre(true, false));
  EXPECT_GT(raw.pttl("a"), 5'000);
}

TEST_F(GoldenLock, a_lease_that_ended_gives_the_lock_to_the_next_and_nothing_to_the_first) {
  run(raw, lock::acquire(L, kA, milliseconds(10)));
  ASSERT_TRUE(eventually([&] { return !raw.exists("L"); }));
  EXPECT_THAT(wire::decode_renew(run(raw, wire::lock::renew({{"L", kA.text}}, kThirtySeconds)), 1), ElementsAre(false));
  EXPECT_FALSE(raw.exists("L"));

  EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(L, kB, kThirtySeconds))).granted);
  EXPECT_THAT(wire::decode_renew(run(raw, wire::lock::renew({{"L", kA.text}}, kThirtySeconds)), 1), ElementsAre(false));
  EXPECT_FALSE(wire::decode_release(run(raw, lock::release(L, kA))));
  EXPECT_EQ(raw.hgetall("L"), (Fields{{kB.text, "1"}}));
  EXPECT_THAT(subscriber.messages(), IsEmpty());
}

TEST_F(GoldenLock, a_late_acquire_of_an_attempt_given_up_is_undone_by_its_own_release_only) {
  run(raw, lock::acquire(L, kB, kThirtySeconds));
  EXPECT_FALSE(wire::decode_release(run(raw, lock::release(L, kA)))) << "compensates an acquire that never arrived";
  EXPECT_EQ(raw.hgetall("L"), (Fields{{kB.text, "1"}}));
}

TEST_F(GoldenLock, looking_at_a_lock_reads_what_redisson_writes) {
  raw.command("HSET", "L", kA.text, 2);
  raw.command("PEXPIRE", "L", 30'000);
  const wire::Held held = wire::lock::decode_holder(run(raw, wire::lock::holder("L")));
  EXPECT_EQ(held.owner, kA.text);
  EXPECT_EQ(held.count, 2);
  EXPECT_GT(run(raw, wire::remaining("L")).integer, 15'000);
  EXPECT_EQ(run(raw, wire::remaining("none")).integer, -2);
  EXPECT_EQ(run(raw, wire::lock::count_fields("L")).integer, 1);
  EXPECT_EQ(run(raw, wire::lock::count_fields("none")).integer, 0);
  EXPECT_EQ(run(raw, wire::lock::has_owner("L", kA)).integer, 1);
  EXPECT_EQ(run(raw, wire::lock::has_owner("L", kB)).integer, 0);
  EXPECT_EQ(wire::lock::decode_holder(run(raw, wire::lock::holder("none"))).owner, "");
}

TEST_F(GoldenLock, scanning_finds_hashes_only) {
  raw.command("HSET", "job:1", kA.text, 1);
  raw.command("HSET", "other", kA.text, 1);
  raw.command("SET", "job:2", "no lock");
  const Reply reply = run(raw, wire::scan("0", "job:*", 100));
  ASSERT_EQ(reply.elements.size(), 2U);
  EXPECT_EQ(reply.elements[0].text, "0");
  ASSERT_EQ(reply.elements[1].elements.size(), 1U);
  EXPECT_EQ(reply.elements[1].elements[0].text, "job:1");
}

}  // namespace
}  // namespace holdfast::test::lock_golden_test
