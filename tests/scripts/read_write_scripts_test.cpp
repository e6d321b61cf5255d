// SPDX-License-Identifier: Apache-2.0
// The read-write lock's scripts on servers that refuse something, with odd names, in a cluster, and in sequences.
#include <utility>

#include "scripts/read_write_state.hpp"
#include "scripts/user_without.hpp"

namespace holdfast::test::read_write_scripts_test {
namespace {

using namespace read_write;
using namespace table;
using testing::ElementsAre;
using testing::HasSubstr;

class ReadWriteScripts : public testing::Test {
 protected:
  Raw user_without(const std::string& rights) { return test::user_without(server, raw, rights); }

  RedisServer server;
  Raw raw{server};
  Store store{raw};
};

TEST_F(ReadWriteScripts, leave_nothing_where_a_write_is_refused) {
  for (const std::string rights : {"-set", "-hset", "-pexpire", "-pexpire -hdel"}) {
    SCOPED_TRACE(rights);
    Raw app = user_without(rights);
    for (const base::Command& command : {read(kA), write(kA)}) {
      if (rights == "-set" && command.script == &wire::scripts::read_write_acquire_write) continue;
      EXPECT_TRUE(run(app, command).is_error());
      store.expect({});
    }
  }
}

TEST_F(ReadWriteScripts, of_a_reader_that_is_refused_leave_the_other_reader) {
  run(raw, read(kB));
  for (const std::string rights : {"-set", "-hset"}) {
    Raw app = user_without(rights);
    EXPECT_TRUE(run(app, read(kA)).is_error());
    store.expect(read_by(kB, 60'000));
  }
}

/// Its expiry lasts shorter than the new reader's lease, so it has to be set, and that is refused.
TEST_F(ReadWriteScripts, of_a_reader_that_cannot_be_taken_back_leave_the_other_reader) {
  run(raw, rw::acquire_read({{&kL, 1}, kB, milliseconds(30'000)}));
  for (const std::string rights : {"-pexpire", "-pexpire -hdel"}) {
    Raw app = user_without(rights);
    EXPECT_TRUE(run(app, read(kA)).is_error()) << rights;
    EXPECT_EQ(raw.command("HEXISTS", "L", kB.text).integer, 1) << rights;
    EXPECT_FALSE(raw.exists(hold(kA))) << rights;
  }
}

TEST_F(ReadWriteScripts, of_a_reader_beside_others_say_how_many_listen) {
  run(raw, read(kB));
  expect_reply(run(raw, read(kA, true)), several({number(-2), number(0)}));
  const Subscriber subscriber(server, {kWake});
  expect_reply(run(raw, read(kC, true)), several({number(-2), number(1)}));
  Raw app = user_without("-pubsub");
  expect_reply(run(app, read(kC, true)), several({number(-2), number(0)}));
}

TEST_F(ReadWriteScripts, of_a_writer_that_may_not_renew_leave_its_hold) {
  run(raw, rw::acquire_write({{&kL, 1}, kA, milliseconds(30'000)}));
  Raw app = user_without("-pexpire");
  EXPECT_TRUE(run(app, write(kA)).is_error());
  store.expect(written_by(kA, 30'000));
}

TEST_F(ReadWriteScripts, of_an_owner_that_is_gone_count_no_lease_that_could_not_be_deleted) {
  store.set_up(two_readers(600'000, 60'000, 600'000));
  Raw app = user_without("-del");
  EXPECT_EQ(run(app, rw::force_release(kL, kA)).integer, 1);
  State after = read_by(kB, 60'000);
  after.emplace(hold(kA), text("1", 600'000));
  store.expect(after);
}

TEST_F(ReadWriteScripts, leave_a_writer_that_ends_its_reading_what_it_writes) {
  run(raw, write(kA));
  run(raw, read(kA));
  EXPECT_EQ(run(raw, end_read(kA)).integer, 0);
  store.expect(written_by(kA, 60'000));
}

TEST_F(ReadWriteScripts, that_may_not_renew_say_so_and_not_that_a_hold_is_lost) {
  run(raw, read(kA));
  raw.command("DEL", hold(kA));
  for (const std::string rights : {"-set", "-hexists"}) {
    Raw app = user_without(rights);
    EXPECT_TRUE(run(app, rw::renew({{"L", kA.text, wire::Mode::shared}}, kLease)).is_error()) << rights;
  }
}

TEST_F(ReadWriteScripts, say_so_where_this_user_may_not_look) {
  run(raw, write(kB));
  for (const std::string rights : {"-hlen", "-hgetall"}) {
    Raw app = user_without(rights);
    for (const base::Command& command : {read(kA), write(kA), rw::force_release(kL), rw::holders("L")}) {
      EXPECT_TRUE(run(app, command).is_error());
    }
  }
  store.expect(written_by(kB, 60'000));
}

/// Why a server does not say whether a hold is there does not matter, nor the words for it.
TEST_F(ReadWriteScripts, a_hold_that_may_not_be_asked_for_counts_while_the_lock_lives) {
  Raw app = user_without("-exists");
  for (Raw* const one : {&app, &raw}) {
    run(raw, read(kA));
    run(raw, read(kB));
    raw.command("DEL", hold(kA));
    EXPECT_EQ(run(*one, end_read(kB)).integer, 0);
    EXPECT_EQ(raw.exists("L"), one == &app) << "as long as its expiry says, which stays";
    EXPECT_LE(raw.pttl("L"), 60'000);
    raw.flushall();
  }
}

TEST_F(ReadWriteScripts, a_full_server_lets_holders_renew_and_release) {
  run(raw, read(kA));
  run(raw, rw::acquire_write({{&kL, 1}, kB, kLease}));
  const wire::LockNames other = rw::names("M");
  run(raw, rw::acquire_write({{&other, 1}, kA, kLease}));
  run(raw, rw::acquire_read({{&other, 1}, kA, kLease}));
  raw.command("CONFIG", "SET", "maxmemory", 1);
  EXPECT_THAT(run(raw, read(kB)).text, HasSubstr("OOM"));
  const milliseconds longer(900'000);
  EXPECT_THAT(wire::decode_renew(run(raw, rw::renew({{"L", kA.text, wire::Mode::shared}}, longer)), 1),
              ElementsAre(true));
  EXPECT_GT(raw.pttl("L"), 600'000);
  EXPECT_GT(raw.pttl(hold(kA)), 600'000);
  EXPECT_TRUE(wire::decode_release(run(raw, rw::release_write({{&other, 1}, kA}))));
  EXPECT_TRUE(wire::decode_release(run(raw, rw::release_read({{&other, 1}, kA}))));
  EXPECT_TRUE(wire::decode_release(run(raw, end_read(kA))));
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

TEST_F(ReadWriteScripts, a_name_of_any_bytes_has_its_holds_and_its_channel) {
  using namespace std::string_literals;
  Subscriber subscriber(server);
  for (const auto& [name, before] : {std::pair("nul\0inside"s, "{nul\0inside}"s), std::pair("{tag}x"s, "{tag}x"s),
                                     std::pair("a}b"s, "{a}b}"s), std::pair("two\r\nlines"s, "{two\r\nlines}"s)}) {
    const wire::LockNames names = rw::names(name);
    EXPECT_TRUE(run(raw, rw::acquire_read({{&names, 1}, kA, kLease})).is_null());
    EXPECT_TRUE(run(raw, rw::acquire_read({{&names, 1}, kB, milliseconds(600'000)})).is_null());
    EXPECT_TRUE(raw.exists(before + ":" + kA.text + ":rwlock_timeout:1"));
    EXPECT_EQ(run(raw, rw::release_read({{&names, 1}, kA})).integer, 0);
    EXPECT_GT(raw.pttl(name), 500'000) << "the other's hold was found";
    EXPECT_EQ(run(raw, rw::force_release(names)).integer, 1);
    EXPECT_EQ(raw.command("DBSIZE").integer, 0);
    EXPECT_THAT(subscriber.messages(), ElementsAre(Message{names.channel, "0"}));
    subscriber.clear();
  }
}

TEST_F(ReadWriteScripts, execute_few_commands_on_a_lock_without_rivals) {
  Monitor monitor(server);
  const auto commands_of = [&](const base::Command& command) {
    monitor.clear();
    EXPECT_FALSE(run(raw, command).is_error());
    std::vector<std::string> names;
    for (const MonitorLine& line : monitor.lines(Lines::from_scripts)) names.push_back(line.args.at(0));
    return names;
  };
  EXPECT_THAT(commands_of(read(kA)), ElementsAre("PTTL", "SET", "HSET", "PEXPIRE"));
  EXPECT_THAT(commands_of(rw::renew({{"L", kA.text, wire::Mode::shared}}, milliseconds(90'000))),
              ElementsAre("HEXISTS", "PEXPIRE", "PTTL", "PEXPIRE"));
  EXPECT_THAT(commands_of(end_read(kA)), ElementsAre("HDEL", "HLEN", "DEL", "DEL", "PUBLISH"));
  EXPECT_THAT(commands_of(write(kA)), ElementsAre("PTTL", "HSET", "PEXPIRE"));
  EXPECT_THAT(commands_of(rw::renew({{"L", kA.text}}, milliseconds(90'000))),
              ElementsAre("HEXISTS", "PTTL", "PEXPIRE"));
  EXPECT_THAT(commands_of(end_write(kA)), ElementsAre("HDEL", "HGETALL", "DEL", "PUBLISH"));
}

TEST(ReadWriteRights, those_that_are_documented_suffice) {
  const RedisServer server({.users = {"app on >secret ~lock:* ~{lock:*}:*:rwlock_timeout:* &redisson_rwlock:* -@all "
                                      "+eval +evalsha +pttl +hlen +hgetall +set +hset +pexpire +hexists +hdel +del "
                                      "+publish +pubsub +type"}});
  Endpoint endpoint = Endpoint::of(server);
  endpoint.user = "app";
  endpoint.password = "secret";
  Raw raw(endpoint);
  const wire::LockNames names = rw::names("lock:1");
  const wire::Names one{&names, 1};
  EXPECT_TRUE(run(raw, rw::acquire_write({one, kA, kLease})).is_null());
  EXPECT_TRUE(run(raw, rw::acquire_read({one, kB, kLease, true})).is_array());
  EXPECT_EQ(run(raw, rw::downgrade({names, kA, kA, kLease})).integer, 0);
  EXPECT_TRUE(run(raw, rw::acquire_read({one, kB, kLease})).is_null());
  EXPECT_TRUE(run(raw, rw::renew({{"lock:1", kA.text, wire::Mode::shared}}, kLease)).is_array());
  EXPECT_TRUE(run(raw, rw::holders("lock:1")).is_array());
  EXPECT_TRUE(run(raw, rw::release_read({one, kA})).is_integer());
  EXPECT_EQ(run(raw, rw::force_release(names)).integer, 1);
  EXPECT_THAT(run(raw, rw::acquire_write({{&kL, 1}, kA, kLease})).text, HasSubstr("NOPERM"));
}

TEST_F(ReadWriteScripts, follow_the_golden_vectors) {
  const auto read_for = [&](const wire::Owner& owner, int lease) {
    return run(raw, rw::acquire_read({{&kL, 1}, owner, milliseconds(lease)}));
  };
  EXPECT_TRUE(read_for(kA, 100'000).is_null());
  EXPECT_TRUE(read_for(kB, 200'000).is_null());
  store.expect(two_readers(100'000, 200'000, 200'000));
  expect_reply(run(raw, write(kB)), number(200'000));
  EXPECT_EQ(run(raw, end_read(kA)).integer, 0);
  Subscriber subscriber(server);
  EXPECT_EQ(run(raw, end_read(kB)).integer, 1);
  EXPECT_THAT(subscriber.messages(), ElementsAre(Message{kWake, "0"}));
  store.expect({});
}

TEST(ReadWriteOnACluster, needs_the_lock_and_its_holds_in_one_slot) {
  const RedisServer server({.cluster = true});
  Raw raw(server);
  for (const std::string name : {"plain", "{tag}x"}) {
    const wire::LockNames names = rw::names(name);
    EXPECT_TRUE(run(raw, rw::acquire_read({{&names, 1}, kA, kLease})).is_null());
    EXPECT_TRUE(run(raw, rw::acquire_read({{&names, 1}, kB, kLease})).is_null());
    EXPECT_THAT(wire::decode_renew(run(raw, rw::renew({{name, kA.text, wire::Mode::shared}}, kLease)), 1),
                ElementsAre(true));
    EXPECT_TRUE(wire::decode_release(run(raw, rw::release_read({{&names, 1}, kA}))));
    EXPECT_TRUE(wire::decode_release(run(raw, rw::release_read({{&names, 1}, kB}))));
    EXPECT_TRUE(run(raw, rw::acquire_write({{&names, 1}, kA, kLease})).is_null());
    EXPECT_TRUE(wire::decode_release(run(raw, rw::downgrade({names, kA, kB, kLease}))));
    EXPECT_EQ(run(raw, rw::force_release(names)).integer, 1);
  }
  const wire::LockNames lone = rw::names("a{b");
  EXPECT_THAT(run(raw, rw::acquire_read({{&lone, 1}, kA, kLease})).text, HasSubstr("CROSSSLOT"));
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

}  // namespace
}  // namespace holdfast::test::read_write_scripts_test
