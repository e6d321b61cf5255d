// SPDX-License-Identifier: Apache-2.0
// The scripts that take any one of several locks, on whatever state they meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/any_lock.hpp"
#include "scripts/script_call.hpp"
#include "scripts/user_without.hpp"
#include "support/listen.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test::any_test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;

class AnyScripts : public testing::Test {
 protected:
  Reply acquire(const wire::Owner& owner) {
    return run(raw_, wire::any::acquire({names_, owner, milliseconds(60'000)}));
  }
  std::optional<std::size_t> granted(const wire::Owner& owner) {
    return wire::any::decode_acquire(acquire(owner)).grant.which;
  }
  Reply release(const wire::Owner& owner) { return run(raw_, wire::any::release({names_, owner})); }
  void hold(const std::string& key, const wire::Owner& owner, long long lease = 30'000) {
    raw_.command("HSET", key, owner.text, "1");
    raw_.command("PEXPIRE", key, lease);
  }

  RedisServer server_;
  Raw raw_{server_};
  const std::vector<wire::LockNames> names_{wire::lock::names("a"), wire::lock::names("b"), wire::lock::names("c")};
};

TEST_F(AnyScripts, acquire_takes_the_first_that_is_free_and_no_other) {
  hold("a", kB);
  EXPECT_EQ(granted(kA), 1U);
  EXPECT_EQ(raw_.hgetall("b"), (std::map<std::string, std::string>{{kA.text, "1"}}));
  EXPECT_THAT(raw_.pttl("b"), AllOf(Gt(40'000), Le(60'000)));
  EXPECT_FALSE(raw_.exists("c"));
}

TEST_F(AnyScripts, acquire_by_an_owner_that_has_one_takes_that_again) {
  hold("c", kA);
  EXPECT_EQ(granted(kA), 2U) << "although others are free";
  EXPECT_GT(raw_.pttl("c"), 40'000);
  EXPECT_FALSE(raw_.exists("a") || raw_.exists("b"));
}

TEST_F(AnyScripts, acquire_names_one_that_ends_soonest_if_none_is_free) {
  hold("a", kB, 50'000);
  hold("b", kB, 20'000);
  hold("c", kB, 40'000);
  const wire::AcquireReply busy = wire::any::decode_acquire(acquire(kA));
  EXPECT_FALSE(busy.granted);
  EXPECT_EQ(busy.blocker, 1U);
  EXPECT_THAT(busy.busy_for->count(), AllOf(Gt(10'000), Le(20'000)));
}

/// So that those who wait for one of many can ask in turns.
TEST_F(AnyScripts, acquire_says_how_many_listen_if_none_is_free) {
  const wire::AcquireCall counts{.names = names_, .owner = kA, .lease = milliseconds(60'000), .count_listeners = true};
  for (const char* key : {"a", "b", "c"}) hold(key, kB);
  const Subscriber one(server_, {names_[0].channel}), two(server_, {names_[0].channel, names_[1].channel});
  const wire::AcquireReply busy = wire::any::decode_acquire(run(raw_, wire::any::acquire(counts)));
  EXPECT_TRUE(busy.busy_for.has_value());
  EXPECT_EQ(busy.listeners, 2);
  Raw app = user_without(server_, raw_, "-pubsub");
  EXPECT_EQ(wire::any::decode_acquire(run(app, wire::any::acquire(counts))).listeners, -1);
  raw_.command("DEL", "b");
  EXPECT_EQ(wire::any::decode_acquire(run(raw_, wire::any::acquire(counts))).grant.which, 1U);
}

TEST_F(AnyScripts, acquire_changes_nothing_when_one_is_no_lock) {
  for (const char* key : {"a", "c"}) {
    raw_.command("RPUSH", key, "a list");
    EXPECT_THAT(acquire(kA).text, AllOf(HasSubstr("WRONGTYPE name "), HasSubstr("of 3 is a list")));
    EXPECT_EQ(raw_.command("DBSIZE").integer, 1);
    raw_.flushall();
  }
  raw_.command("HSET", "b", kB.text, "1");
  EXPECT_THAT(acquire(kA).text, HasSubstr("without an expiry"));
}

TEST_F(AnyScripts, acquire_leaves_nothing_without_an_expiry_where_that_is_refused) {
  for (const std::string rights : {"-pexpire", "-pexpire -hdel"}) {
    Raw app = user_without(server_, raw_, rights);
    EXPECT_TRUE(run(app, wire::any::acquire({names_, kA, milliseconds(60'000)})).is_error()) << rights;
    EXPECT_EQ(raw_.command("DBSIZE").integer, 0) << rights;
  }
}

TEST_F(AnyScripts, release_gives_back_whichever_it_has_and_tells_its_channel) {
  Subscriber listener(server_, {names_[0].channel, names_[1].channel, names_[2].channel});
  hold("a", kB);
  hold("b", kA);
  raw_.command("RPUSH", "c", "a list");
  EXPECT_EQ(wire::decode_release(release(kA)), 1);
  EXPECT_FALSE(raw_.exists("b"));
  EXPECT_TRUE(raw_.exists("a") && raw_.exists("c"));
  EXPECT_FALSE(wire::decode_release(release(kA))) << "once more finds nothing";
}

TEST(AnyCalls, ReadsWhatIsNoReplyAsNothing) {
  const auto array = [](std::vector<Reply> elements) { return Reply{Reply::Kind::array, 0, {}, std::move(elements)}; };
  const auto integer = [](std::int64_t value) { return Reply{Reply::Kind::integer, value, {}, {}}; };
  for (const Reply& odd : {Reply{}, integer(1), array({}), array({integer(-1)}), array({integer(-1), integer(0)}),
                           array({integer(-1), integer(1), integer(1)}), array({integer(0), integer(5)})}) {
    const wire::AcquireReply reply = wire::any::decode_acquire(odd);
    EXPECT_FALSE(reply.granted);
    EXPECT_FALSE(reply.busy_for);
  }
}

}  // namespace
}  // namespace holdfast::test::any_test
