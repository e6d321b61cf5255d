// SPDX-License-Identifier: Apache-2.0
// The lock's scripts on servers and states that are not made for them: other types, odd names, no room, no rights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "scripts/script_call.hpp"
#include "support/listen.hpp"

namespace holdfast::test::hostile_state_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Fields = std::map<std::string, std::string>;

constexpr milliseconds kLease{60'000};
const wire::LockNames kL = wire::lock::names("L");
const std::vector<wire::LockNames> kBoth{wire::lock::names("K"), kL};

TEST(ForeignKey, of_any_other_type_is_an_error_and_stays_untouched) {
  const RedisServer server;
  Raw raw(server);
  Subscriber subscriber(server);
  const std::vector<std::pair<std::vector<std::string>, std::string>> makers{
      {{"SET", "L", "text"}, "a string, as a SimpleLock, a semaphore or a count-down latch is"},
      {{"RPUSH", "L", "a", "b"}, "a list"},
      {{"SADD", "L", "a"}, "a set"},
      {{"ZADD", "L", "1", "a"}, "a sorted set"},
      {{"XADD", "L", "1-1", "field", "value"}, "a stream"}};
  for (const auto& [maker, called] : makers) {
    for (const bool expires : {false, true}) {
      SCOPED_TRACE(maker.front() + (expires ? " with expiry" : ""));
      raw.flushall();
      ASSERT_FALSE(raw.send(maker).is_error());
      if (expires) raw.command("PEXPIRE", "L", 30'000);
      const std::string before = raw.command("DUMP", "L").text;

      EXPECT_EQ(run(raw, lock::acquire(kL, kA, kLease)).text, "WRONGTYPE it is " + called);
      EXPECT_EQ(run(raw, lock::acquire_all(kBoth, kA, kLease)).text, "WRONGTYPE name 2 of 2 is " + called);
      EXPECT_THAT(run(raw, lock::release(kL, kA)).text, HasSubstr("WRONGTYPE"));
      EXPECT_EQ(run(raw, wire::lock::force_release(kL)).text, "WRONGTYPE it is " + called);
      EXPECT_EQ(run(raw, wire::lock::force_release(kL, kA)).text, "WRONGTYPE it is " + called);
      EXPECT_EQ(run(raw, wire::lock::holder("L")).text, "WRONGTYPE it is " + called);
      EXPECT_THAT(run(raw, wire::lock::count_fields("L")).text, HasSubstr("WRONGTYPE"));

      EXPECT_EQ(raw.command("DUMP", "L").text, before);
      EXPECT_LE(raw.pttl("L"), expires ? 30'000 : -1);
      EXPECT_EQ(raw.command("DBSIZE").integer, 1);
    }
  }
  EXPECT_THAT(subscriber.messages(), IsEmpty());
}

TEST(ForeignKey, does_not_stop_the_renewal_of_the_other_locks) {
  const RedisServer server;
  Raw raw(server);
  raw.command("SET", "text", "value");
  const std::string before = raw.command("DUMP", "text").text;
  for (const char* key : {"a", "b"}) run(raw, lock::acquire(wire::lock::names(key), kA, milliseconds(30'000)));
  const Reply reply = run(raw, wire::lock::renew({{"a", kA.text}, {"text", kA.text}, {"b", kA.text}}, kLease));
  EXPECT_THAT(wire::decode_renew(reply, 3), ElementsAre(true, false, true));
  EXPECT_GT(raw.pttl("a"), 30'000);
  EXPECT_GT(raw.pttl("b"), 30'000);
  EXPECT_EQ(raw.pttl("text"), -1);
  EXPECT_EQ(raw.command("DUMP", "text").text, before);
}

TEST(Names, of_any_bytes_are_locked_and_told_on_exactly_their_channel) {
  const RedisServer server;
  Raw raw(server);
  Subscriber subscriber(server);
  using namespace std::string_literals;
  const std::string long_name(10'000, 'n');
  const std::vector<std::pair<std::string, std::string>> names{
      {"plain", "redisson_lock__channel:{plain}"},
      {"with space", "redisson_lock__channel:{with space}"},
      {"two\r\nlines", "redisson_lock__channel:{two\r\nlines}"},
      {"nul\0inside"s, "redisson_lock__channel:{nul\0inside}"s},
      {"\0"s, "redisson_lock__channel:{\0}"s},
      {"gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\x92", "redisson_lock__channel:{gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\x92}"},
      {"broken \xff\xfe", "redisson_lock__channel:{broken \xff\xfe}"},
      {"\"quoted\" * [a-z] ?", "redisson_lock__channel:{\"quoted\" * [a-z] ?}"},
      {"{tag}x", "redisson_lock__channel:{tag}x"},
      {"a{b", "redisson_lock__channel:a{b"},
      {"x{}y", "redisson_lock__channel:x{}y"},
      {"a}b", "redisson_lock__channel:{a}b}"},
      {"a}b{c}", "redisson_lock__channel:a}b{c}"},
      {long_name, "redisson_lock__channel:{" + long_name + "}"},
  };
  for (const auto& [name, channel] : names) {
    SCOPED_TRACE(base::quote(name).substr(0, 40));
    const wire::LockNames lock = wire::lock::names(name);
    EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(lock, kA, kLease))).granted);
    EXPECT_EQ(raw.hgetall(name), (Fields{{kA.text, "1"}}));
    EXPECT_EQ(raw.command("DBSIZE").integer, 1);
    EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(lock, kB, kLease))).busy_for.has_value());
    EXPECT_THAT(wire::decode_renew(run(raw, wire::lock::renew({{name, kA.text}}, kLease)), 1), ElementsAre(true));
    EXPECT_TRUE(wire::decode_release(run(raw, lock::release(lock, kA))));
    EXPECT_THAT(subscriber.messages(), ElementsAre(Message{channel, "0"}));
    subscriber.clear();
  }
}

TEST(FullServer, grants_nothing_but_lets_holders_renew_and_release) {
  const RedisServer server;
  Raw raw(server);
  run(raw, lock::acquire(kL, kA, milliseconds(30'000)));
  raw.command("CONFIG", "SET", "maxmemory", 1);
  EXPECT_THAT(run(raw, lock::acquire(wire::lock::names("M"), kA, kLease)).text, HasSubstr("OOM"));
  EXPECT_FALSE(raw.exists("M"));
  EXPECT_THAT(wire::decode_renew(run(raw, wire::lock::renew({{"L", kA.text}}, kLease)), 1), ElementsAre(true));
  EXPECT_GT(raw.pttl("L"), 30'000);
  EXPECT_TRUE(wire::decode_release(run(raw, lock::release(kL, kA))));
  EXPECT_FALSE(raw.exists("L"));
}

TEST(ReadOnlyReplica, refuses_every_script_that_would_write) {
  const RedisServer primary({.listen = ServerOptions::Listen::tcp});
  const RedisServer replica({.replica_of = &primary});
  Raw to_primary(primary);
  Raw raw(replica);
  run(to_primary, lock::acquire(kL, kA, kLease));
  ASSERT_TRUE(eventually([&] { return raw.exists("L"); }));
  EXPECT_THAT(run(raw, lock::acquire(wire::lock::names("M"), kA, kLease)).text, HasSubstr("READONLY"));
  EXPECT_THAT(run(raw, lock::release(kL, kA)).text, HasSubstr("READONLY"));
  EXPECT_THAT(run(raw, wire::lock::force_release(kL)).text, HasSubstr("READONLY"));
  EXPECT_THAT(run(raw, wire::lock::renew({{"L", kA.text}}, kLease)).text, HasSubstr("READONLY"));
  EXPECT_TRUE(raw.exists("L"));
}

TEST(LeastRights, the_commands_the_scripts_execute_and_no_key_rights_on_channels_suffice) {
  const RedisServer server(
      {.users = {"app on >secret ~lock:* &redisson_lock__channel:* -@all +eval +evalsha +pttl +hset +pexpire +hexists "
                 "+hdel +publish +hlen +hgetall"}});
  Endpoint endpoint = Endpoint::of(server);
  endpoint.user = "app";
  endpoint.password = "secret";
  Raw raw(endpoint);
  const wire::LockNames lock = wire::lock::names("lock:1");
  EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(lock, kA, kLease))).granted);
  EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(lock, kB, kLease))).busy_for.has_value());
  EXPECT_THAT(wire::decode_renew(run(raw, wire::lock::renew({{"lock:1", kA.text}}, kLease)), 1), ElementsAre(true));
  EXPECT_TRUE(wire::decode_release(run(raw, lock::release(lock, kA))));
  EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(lock, kA, kLease))).granted);
  EXPECT_EQ(run(raw, wire::lock::force_release(lock)).integer, 1);
  EXPECT_THAT(run(raw, lock::acquire(wire::lock::names("other:1"), kA, kLease)).text, HasSubstr("NOPERM"));
}

/// A user who may not look at what stands in the way takes it for a lock that is held, and breaks nothing.
class MayNotLook : public testing::TestWithParam<std::string> {};

TEST_P(MayNotLook, and_waits_for_what_may_be_a_lock) {
  const RedisServer server({.users = {"app on >secret ~* &* +@all " + GetParam()}});
  Raw raw(server);
  Endpoint endpoint = Endpoint::of(server);
  endpoint.user = "app";
  endpoint.password = "secret";
  Raw app(endpoint);
  run(raw, lock::acquire(kL, kB, kLease));
  EXPECT_GT(wire::decode_acquire(run(app, lock::acquire(kL, kA, kLease))).busy_for, milliseconds(0));
  EXPECT_GT(wire::decode_acquire(run(app, lock::acquire(kL, kA, kLease, true))).busy_for, milliseconds(0));
  EXPECT_GT(wire::decode_acquire(run(app, lock::acquire_all(kBoth, kA, kLease))).busy_for, milliseconds(0));
  // In the words of Redis 7, of Redis 6, and of Valkey and later versions of Redis.
  const auto refused = testing::AnyOf(HasSubstr("NOPERM"), HasSubstr("can't run"), HasSubstr("ACL failure in script"));
  for (const base::Command& command : {wire::lock::force_release(kL), wire::lock::holder("L")}) {
    EXPECT_THAT(run(app, command).text, refused);
  }
  EXPECT_EQ(raw.hgetall("L"), (Fields{{kB.text, "1"}}));
}

INSTANTIATE_TEST_SUITE_P(Users, MayNotLook, testing::Values("-hlen", "-hgetall"));

/// A user who may set, but not set an expiry.
class MayNotExpire : public testing::TestWithParam<const char*> {
 protected:
  Raw as_app() const {
    Endpoint endpoint = Endpoint::of(server);
    endpoint.user = "app";
    endpoint.password = "secret";
    return Raw(endpoint);
  }
  const RedisServer server{{.users = {std::string("app on >secret ~* &* +@all ") + GetParam()}}};
  Raw raw{server};
};

TEST_P(MayNotExpire, and_leaves_no_lock_without_an_end) {
  Raw app = as_app();
  EXPECT_TRUE(run(app, lock::acquire(kL, kA, kLease)).is_error());
  EXPECT_FALSE(raw.exists("L"));
  const std::vector<wire::LockNames> all{wire::lock::names("a"), wire::lock::names("b"), wire::lock::names("c")};
  EXPECT_TRUE(run(app, lock::acquire_all(all, kA, kLease)).is_error());
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
  run(raw, lock::acquire(wire::lock::names("b"), kB, kLease));
  EXPECT_TRUE(wire::decode_acquire(run(app, lock::acquire_all(all, kA, kLease))).busy_for.has_value());
  EXPECT_EQ(raw.hgetall("b"), (Fields{{kB.text, "1"}}));
}

INSTANTIATE_TEST_SUITE_P(Users, MayNotExpire, testing::Values("-pexpire", "-pexpire -hdel"));

TEST(MayNotPublish, and_releases_all_the_same) {
  const RedisServer server({.users = {"app on >secret ~* +@all -publish"}});
  Raw raw(server);
  Endpoint endpoint = Endpoint::of(server);
  endpoint.user = "app";
  endpoint.password = "secret";
  Raw app(endpoint);
  const std::vector<wire::LockNames> all{wire::lock::names("a"), wire::lock::names("b"), wire::lock::names("c")};
  EXPECT_TRUE(wire::decode_acquire(run(app, lock::acquire_all(all, kA, kLease))).granted);
  EXPECT_TRUE(run(app, lock::release_all(all, kA)).is_error());
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

TEST(ClusterNode, takes_the_scripts_of_one_lock_whatever_its_name) {
  const RedisServer server({.cluster = true});
  Raw raw(server);
  Subscriber subscriber(server);
  for (const std::string name : {"plain", "{tag}x", "a{b", "x{}y", "a}b{c}"}) {
    SCOPED_TRACE(name);
    const wire::LockNames lock = wire::lock::names(name);
    EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(lock, kA, kLease))).granted);
    EXPECT_TRUE(wire::decode_acquire(run(raw, lock::acquire(lock, kB, kLease))).busy_for.has_value());
    EXPECT_THAT(wire::decode_renew(run(raw, wire::lock::renew({{name, kA.text}}, kLease)), 1), ElementsAre(true));
    EXPECT_TRUE(wire::decode_release(run(raw, lock::release(lock, kA))));
    EXPECT_THAT(subscriber.messages(), ElementsAre(Message{lock.channel, "0"}));
    subscriber.clear();
  }
  run(raw, lock::acquire(wire::lock::names("{tag}a"), kA, kLease));
  run(raw, lock::acquire(wire::lock::names("{tag}b"), kA, kLease));
  EXPECT_THAT(wire::decode_renew(run(raw, wire::lock::renew({{"{tag}a", kA.text}, {"{tag}b", kA.text}}, kLease)), 2),
              ElementsAre(true, true));
}

}  // namespace
}  // namespace holdfast::test::hostile_state_test
