// SPDX-License-Identifier: Apache-2.0
// The scripts of the SET NX PX family, and those that take several locks at once, on whatever state they meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scripts/script_call.hpp"
#include "scripts/user_without.hpp"
#include "support/listen.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test::several_and_simple_test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;

constexpr milliseconds kLease{60'000};

class Scripts : public testing::Test {
 protected:
  Reply call(const base::Command& command) { return run(raw_, command); }
  void set(const std::string& key, const std::string& value) { raw_.command("SET", key, value, "PX", "30000"); }
  void hold(const std::string& key, const wire::Owner& owner, const std::string& lease = "30000") {
    raw_.command("HSET", key, owner.text, "1");
    raw_.command("PEXPIRE", key, lease);
  }
  std::string value(const std::string& key) { return raw_.command("GET", key).text; }

  RedisServer server_;
  Raw raw_{server_};
};

class SimpleScripts : public Scripts {
 protected:
  const wire::LockNames names_ = wire::simple::names("S");
};

TEST_F(SimpleScripts, acquire_takes_what_is_free_or_its_own_and_leaves_the_rest) {
  EXPECT_TRUE(call(simple::acquire(names_, kA, kLease)).is_null());
  EXPECT_EQ(value("S"), kA.text);
  EXPECT_THAT(raw_.pttl("S"), AllOf(Gt(40'000), Le(60'000)));
  raw_.command("PEXPIRE", "S", "30000");
  EXPECT_THAT(call(simple::acquire(names_, kB, kLease)).integer, AllOf(Gt(15'000), Le(30'000)));
  EXPECT_EQ(value("S"), kA.text);
  EXPECT_TRUE(call(simple::acquire(names_, kA, kLease)).is_null()) << "the same owner again";
  EXPECT_GT(raw_.pttl("S"), 40'000);
  raw_.command("PERSIST", "S");
  EXPECT_EQ(call(simple::acquire(names_, kB, kLease)).integer, -1);
}

TEST_F(SimpleScripts, release_deletes_its_own_value_alone) {
  Subscriber listener(server_, {names_.channel});
  EXPECT_TRUE(call(simple::release(names_, kA)).is_null()) << "there is none";
  set("S", "a stranger's token");
  EXPECT_TRUE(call(simple::release(names_, kA)).is_null());
  EXPECT_EQ(value("S"), "a stranger's token");
  set("S", kA.text);
  EXPECT_EQ(call(simple::release(names_, kA)).integer, 1);
  EXPECT_FALSE(raw_.exists("S"));
  EXPECT_TRUE(call(simple::release(names_, kA)).is_null());
  EXPECT_EQ(listener.messages().size(), 1U) << "only a release is told";
}

TEST_F(SimpleScripts, force_release_deletes_any_value_that_has_an_expiry) {
  EXPECT_EQ(call(wire::simple::force_release(names_)).integer, 0);
  set("S", "a stranger's token");
  EXPECT_EQ(call(wire::simple::force_release(names_)).integer, 1);
  EXPECT_FALSE(raw_.exists("S"));
  raw_.command("SET", "S", "precious");
  EXPECT_THAT(call(wire::simple::force_release(names_)).text, HasSubstr("WRONGTYPE it is a string without an expiry"));
  EXPECT_EQ(value("S"), "precious");
}

TEST_F(SimpleScripts, force_release_from_an_owner_deletes_just_that_value) {
  EXPECT_EQ(call(wire::simple::force_release(names_, kA)).integer, 0);
  raw_.command("SET", "S", kA.text);
  EXPECT_EQ(call(wire::simple::force_release(names_, kB)).integer, 0);
  EXPECT_EQ(call(wire::simple::force_release(names_, wire::Owner{})).integer, 0);
  EXPECT_EQ(value("S"), kA.text);
  EXPECT_EQ(call(wire::simple::force_release(names_, kA)).integer, 1);
  EXPECT_FALSE(raw_.exists("S"));
}

TEST_F(SimpleScripts, renew_extends_its_own_values_alone) {
  set("mine", kA.text);
  set("theirs", kB.text);
  hold("hash", kA);
  const Reply reply = call(wire::simple::renew(
      {{"mine", kA.text}, {"theirs", kA.text}, {"absent", kA.text}, {"hash", kA.text}, {"mine", kA.text}}, kLease));
  EXPECT_EQ(wire::decode_renew(reply, 5), (std::vector<bool>{true, false, false, false, true}));
  EXPECT_GT(raw_.pttl("mine"), 40'000);
  EXPECT_LE(raw_.pttl("theirs"), 30'000);
  EXPECT_LE(raw_.pttl("hash"), 30'000);
}

TEST_F(SimpleScripts, a_lock_of_the_other_kind_is_an_error_and_stays) {
  hold("S", kA);
  for (const base::Command& command :
       {simple::acquire(names_, kA, kLease), simple::release(names_, kA), wire::simple::force_release(names_)}) {
    EXPECT_THAT(call(command).text, HasSubstr("WRONGTYPE"));
  }
  EXPECT_TRUE(raw_.exists("S"));
}

class SeveralScripts : public Scripts, public testing::WithParamInterface<bool> {
 protected:
  bool simple() const { return GetParam(); }
  std::vector<wire::LockNames> names() const {
    if (simple()) return {wire::simple::names("a"), wire::simple::names("b"), wire::simple::names("c")};
    return {wire::lock::names("a"), wire::lock::names("b"), wire::lock::names("c")};
  }
  Reply acquire(const wire::Owner& owner) {
    return call(simple() ? simple::acquire_all(names(), owner, kLease) : lock::acquire_all(names(), owner, kLease));
  }
  Reply release(const wire::Owner& owner) {
    return call(simple() ? simple::release_all(names(), owner) : lock::release_all(names(), owner));
  }
  void take(const std::string& key, const wire::Owner& owner, const std::string& lease = "30000") {
    if (!simple()) return hold(key, owner, lease);
    raw_.command("SET", key, owner.text, "PX", lease);
  }
  bool has(const std::string& key, const wire::Owner& owner) {
    return simple() ? value(key) == owner.text : raw_.command("HGET", key, owner.text).text == "1";
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, SeveralScripts, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "simple" : "lock"; });

TEST_P(SeveralScripts, acquire_takes_all_with_their_leases) {
  take("b", kA);
  EXPECT_TRUE(acquire(kA).is_null()) << "one of them was its own already";
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_TRUE(has(key, kA)) << key;
    EXPECT_GT(raw_.pttl(key), 40'000) << key;
  }
}

TEST_P(SeveralScripts, acquire_takes_none_and_names_one_that_stays_longest) {
  take("b", kB, "20000");
  take("c", kB, "50000");
  const wire::AcquireReply reply = wire::decode_acquire(acquire(kA));
  EXPECT_FALSE(reply.granted);
  EXPECT_EQ(reply.blocker, 2U);
  EXPECT_THAT(reply.busy_for->count(), AllOf(Gt(30'000), Le(50'000)));
  EXPECT_FALSE(raw_.exists("a"));
}

TEST_F(SimpleScripts, acquire_of_several_names_one_that_has_no_expiry) {
  const std::vector<wire::LockNames> both{wire::simple::names("a"), wire::simple::names("b")};
  set("a", "a stranger's token");
  raw_.command("SET", "b", "a stranger's token");
  const wire::AcquireReply lasting = wire::decode_acquire(call(simple::acquire_all(both, kA, kLease)));
  EXPECT_EQ(lasting.blocker, 1U);
  EXPECT_EQ(lasting.busy_for->count(), -1);
  const std::vector<wire::LockNames> turned{both[1], both[0]};
  EXPECT_EQ(wire::decode_acquire(call(simple::acquire_all(turned, kA, kLease))).blocker, 0U);
}

TEST_P(SeveralScripts, acquire_changes_nothing_when_one_is_of_another_type) {
  raw_.command("RPUSH", "c", "a list");
  EXPECT_THAT(acquire(kA).text, HasSubstr("WRONGTYPE"));
  EXPECT_FALSE(raw_.exists("a"));
  EXPECT_FALSE(raw_.exists("b"));
}

TEST_P(SeveralScripts, release_gives_back_what_is_its_own_and_says_whether_that_was_all) {
  acquire(kA);
  EXPECT_TRUE(wire::decode_release(release(kA)));
  for (const char* key : {"a", "b", "c"}) EXPECT_FALSE(raw_.exists(key)) << key;
  EXPECT_FALSE(wire::decode_release(release(kA)));
  acquire(kA);
  raw_.command("DEL", "a", "b");
  take("a", kB);
  raw_.command("RPUSH", "b", "a list");
  EXPECT_FALSE(wire::decode_release(release(kA)));
  EXPECT_TRUE(has("a", kB));
  EXPECT_TRUE(raw_.exists("b"));
  EXPECT_FALSE(raw_.exists("c"));
}

TEST_P(SeveralScripts, a_release_by_who_may_not_look_is_an_error_and_no_loss) {
  acquire(kA);
  Raw app = user_without(server_, raw_, simple() ? "-get" : "-hdel");
  EXPECT_TRUE(run(app, simple() ? simple::release_all(names(), kA) : lock::release_all(names(), kA)).is_error());
  EXPECT_TRUE(wire::decode_release(release(kA))) << "all are still there";
}

TEST_F(SimpleScripts, a_release_of_several_by_who_may_not_publish_notifies_nobody) {
  const std::vector<wire::LockNames> both{wire::simple::names("a"), wire::simple::names("b")};
  call(simple::acquire_all(both, kA, kLease));
  Raw app = user_without(server_, raw_, "-publish");
  const Reply reply = run(app, simple::release_all(both, kA));
  EXPECT_EQ(reply.kind, Reply::Kind::integer) << reply.text;
  EXPECT_EQ(reply.integer, 0);
  EXPECT_FALSE(raw_.exists("a") || raw_.exists("b"));
}

TEST_P(SeveralScripts, a_release_that_the_server_refuses_is_an_error_and_no_loss) {
  acquire(kA);
  raw_.command("REPLICAOF", "127.0.0.1", "1");
  const Reply refused = release(kA);
  EXPECT_TRUE(refused.is_error());
  EXPECT_THAT(refused.text, HasSubstr("READONLY"));
  raw_.command("REPLICAOF", "NO", "ONE");
  EXPECT_TRUE(wire::decode_release(release(kA))) << "all are still there";
}

}  // namespace
}  // namespace holdfast::test::several_and_simple_test
