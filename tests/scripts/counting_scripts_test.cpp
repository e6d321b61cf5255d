// SPDX-License-Identifier: Apache-2.0
// The scripts of semaphores, leased semaphores and latches on servers that refuse something, in a cluster, in
// sequences, and with every reply lost.
#include <utility>

#include "scripts/counting_state.hpp"
#include "scripts/user_without.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::counting_scripts_test {
namespace {

using namespace counting;
using namespace table;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr long long kNever = 922'337'203'685'477;

class CountingScripts : public testing::Test {
 protected:
  Raw user_without(const std::string& rights) { return test::user_without(server, raw, rights); }
  long long available() { return wire::semaphore::decode_available(raw.command("GET", "S")).value_or(-999); }
  wire::permits::Seen seen() {
    return wire::permits::decode_look(run(raw, wire::permits::look(kS, 100))).value_or(wire::permits::Seen{-999, -999});
  }
  /// Permits whose lease is over.
  void add_over(int permits) {
    raw.command("EVAL", "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], ARGV[2] - i, string.format('%016d', i)) end",
                1, kLeases, permits, store.now() - 20'000);
  }

  RedisServer server;
  Raw raw{server};
  Store store{raw};
};

// ---- what is refused changes nothing ----

TEST_F(CountingScripts, leave_a_semaphore_as_it_was_where_a_write_is_refused) {
  const std::vector<std::pair<std::string, base::Command>> refused{
      {"-decrby", counting::semaphore::acquire(kA)},
      {"-set", counting::semaphore::acquire(kA)},
      {"-get", counting::semaphore::acquire(kA)},
      {"-incrby", counting::semaphore::release(kA)},
      {"-set", counting::semaphore::release(kA)},
      {"-incrby", wire::semaphore::add({kS, 2, once("c:9")})},
      {"-decrby", wire::semaphore::drain(kS, once("c:9"))},
      {"-decrby", wire::latch::count_down({kGate, 1, once("c:9")})},
      {"-del", wire::latch::count_down({kGate, 5, once("c:9")})},
  };
  for (const auto& [rights, call] : refused) {
    SCOPED_TRACE(rights + " " + std::string(call.script->name));
    store.set_up({count("5")});
    Raw app = user_without(rights);
    EXPECT_TRUE(run(app, call).is_error());
    store.expect({count("5")});
  }
}

TEST_F(CountingScripts, leave_leased_permits_as_they_were_where_a_write_is_refused) {
  const State before{count("5"), counting::permits::leases({{counting::permits::kIdB, 300'000}})};
  const std::vector<std::pair<std::string, base::Command>> refused{
      {"-decrby", counting::permits::acquire(of(kA, 2))}, {"-zadd", counting::permits::acquire(of(kA, 2))},
      {"-zscore", counting::permits::acquire(of(kA, 2))}, {"-get", counting::permits::acquire(of(kA, 2))},
      {"-incrby", counting::permits::release(kB)},        {"-zrem", counting::permits::release(kB)},
      {"-zrem", wire::permits::force_release(kS)},        {"-incrby", wire::permits::force_release(kS)},
      {"-zrangebyscore", counting::permits::acquire(kA)}, {"-zrangebyscore", wire::permits::look(kS, 100)},
  };
  for (const auto& [rights, call] : refused) {
    SCOPED_TRACE(rights + " " + std::string(call.script->name));
    store.set_up(before);
    Raw app = user_without(rights);
    EXPECT_TRUE(run(app, call).is_error());
    store.expect(before);
  }
}

TEST_F(CountingScripts, give_back_though_nobody_may_be_told) {
  Raw app = user_without("-publish");
  store.set_up({count("0")});
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(run(app, counting::semaphore::release(kA)).integer, 0) << "it was given back, and once";
    EXPECT_EQ(available(), 1);
  }
  store.set_up({count("0"), counting::permits::leases({{counting::permits::kIdA, 30'000}})});
  EXPECT_EQ(run(app, counting::permits::release(kA)).integer, 0);
  store.expect({count("1")});
}

/// What was done is done, and says so: a caller that was refused would do it again.
TEST_F(CountingScripts, do_what_they_are_asked_though_nobody_may_be_told) {
  const State held{count("0"), counting::permits::leases({{counting::permits::kIdA, 30'000}})};
  const std::vector<std::tuple<base::Command, State, long long, std::string>> calls{
      {wire::semaphore::add({kS, 2}), {count("1")}, 3, "3"},
      {wire::semaphore::add_if_there({kS, 2}), {count("1")}, 0, "3"},
      {wire::semaphore::set({kS, 2}), {}, 1, "2"},
      {wire::permits::set({kS, 2}), {}, 1, "2"},
      {wire::permits::add({kS, 2}), held, 2, "2"},
      {wire::permits::set_total({kS, 3}), held, 2, "2"},
      {wire::permits::force_release(kS), held, 1, "1"},
      {wire::semaphore::remove(kS), {count("1")}, 1, ""},
      {wire::permits::remove(kS), held, 1, ""},
      {wire::latch::set({kGate, 2}), {}, 1, "2"},
      {wire::latch::count_down({kGate, 2}), {count("2")}, 0, ""},
      {wire::latch::remove({kGate}), {count("2")}, 1, ""},
  };
  for (const Publish how : {Publish::publish, Publish::both}) {
    for (const auto& [call, before, reply, number] : calls) {
      SCOPED_TRACE(call.script->name);
      store.set_up(before);
      Raw app = user_without("-publish");
      base::Command sent = call;
      if (how == Publish::both && sent.args.back() == "publish") sent.args.back() = "both";
      const Reply said = run(app, sent);
      EXPECT_FALSE(said.is_error()) << said.text;
      EXPECT_EQ(said.integer, reply);
      EXPECT_EQ(raw.command("GET", "S").text, number);
    }
  }
}

TEST_F(CountingScripts, a_full_server_grants_nothing_but_takes_back_renews_and_counts_down) {
  raw.command("SET", "S", 2);
  run(raw, counting::permits::acquire(kB));
  const wire::LockNames gate = wire::latch::names("gate");
  run(raw, wire::latch::set({gate, 2}));
  raw.command("CONFIG", "SET", "maxmemory", 1);
  EXPECT_THAT(run(raw, counting::semaphore::acquire(kA)).text, HasSubstr("OOM"));
  EXPECT_THAT(run(raw, counting::permits::acquire(kA)).text, HasSubstr("OOM"));
  EXPECT_EQ(available(), 1);
  const std::string held = wire::permits::shown(counting::permits::kIdB);
  EXPECT_THAT(wire::decode_renew(run(raw, wire::permits::renew({{"S", held}}, milliseconds(900'000))), 1),
              ElementsAre(true));
  EXPECT_EQ(run(raw, counting::permits::release(kB)).integer, 0);
  EXPECT_EQ(available(), 2);
  EXPECT_TRUE(wire::decode_release(run(raw, counting::semaphore::release(kA))));
  EXPECT_EQ(available(), 3);
  EXPECT_EQ(run(raw, wire::semaphore::add({kS, 2, once("c:3")})).integer, 5) << "those who wait may need it";
  EXPECT_THAT(run(raw, wire::semaphore::drain(kS, once("c:4"))).text, HasSubstr("OOM"));
  EXPECT_EQ(run(raw, wire::permits::add({kS, -2, once("c:5")})).integer, 3);
  for (const base::Command& call : {wire::latch::set({wire::latch::names("another gate"), 2, once("c:6")}),
                                    wire::semaphore::set({wire::semaphore::names("another"), 2, once("c:7")}),
                                    wire::permits::set_total({kS, 9, once("c:8")})}) {
    EXPECT_THAT(run(raw, call).text, HasSubstr("OOM")) << call.script->name;
  }
  EXPECT_EQ(available(), 3);
  raw.command("CONFIG", "SET", "maxmemory", 0);
  add_over(3);
  raw.command("CONFIG", "SET", "maxmemory", 1);
  EXPECT_EQ(seen().available, 6);
  EXPECT_EQ(available(), 6) << "what is over is given back too";
  EXPECT_EQ(run(raw, wire::latch::count_down({gate, 1, once("c:1")})).integer, 1);
  EXPECT_EQ(run(raw, wire::latch::count_down({gate, 1, once("c:2")})).integer, 0);
  EXPECT_FALSE(raw.exists("gate"));
}

TEST_F(CountingScripts, a_lease_ends_neither_earlier_nor_later_than_asked_for) {
  raw.command("SET", "S", 1);
  const auto expect_lease = [&](const base::Command& call) {
    const long long before = store.now();
    EXPECT_FALSE(run(raw, call).is_error());
    const long long end = std::stoll(raw.command("ZSCORE", kLeases, counting::permits::kIdA).text) - kLease.count();
    EXPECT_GE(end, before) << call.script->name;
    EXPECT_LE(end, store.now() + 1) << call.script->name << ", which writes something always";
  };
  expect_lease(counting::permits::acquire(kA));
  expect_lease(wire::permits::renew({{"S", wire::permits::shown(counting::permits::kIdA)}}, kLease));
}

TEST_F(CountingScripts, force_takes_more_than_a_thousand_permits) {
  raw.command("SET", "S", 0);
  raw.command("EVAL", "for i = 1, 1500 do redis.call('ZADD', KEYS[1], ARGV[1], string.format('%016d', i)) end", 1,
              kLeases, store.now() + 60'000);
  EXPECT_EQ(run(raw, wire::permits::force_release(kS)).integer, 1);
  store.expect({count("1500")});
}

TEST_F(CountingScripts, a_permit_without_an_end_is_said_to_have_none) {
  raw.command("SET", "S", 2);
  run(raw, counting::permits::acquire(kA, milliseconds(-1)));
  raw.command("ZADD", kLeases, kNever - 1, counting::permits::kIdB);
  const Reply all = run(raw, wire::permits::look(kS, 10));
  ASSERT_EQ(all.elements.size(), 6U);
  EXPECT_GT(all.elements[3].integer, kNever / 2) << "the one that ends a millisecond earlier has an end";
  EXPECT_EQ(all.elements[4].text, counting::permits::kIdA);
  EXPECT_EQ(all.elements[5].integer, -1);
}

TEST_F(CountingScripts, who_may_only_read_is_told_how_many_are_free_all_the_same) {
  store.set_up({count("1"), counting::permits::leases({{counting::permits::kIdA, 30'000}})});
  add_over(3);
  Raw app = user_without("-@write");
  const auto seen = wire::permits::decode_look(run(app, wire::permits::look(kS, 10)));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->available, 4);
  EXPECT_EQ(seen->held, 1);
  EXPECT_THAT(seen->permits, SizeIs(1));
  EXPECT_EQ(available(), 1) << "nothing was changed";
}

// ---- no permit is created or lost ----

/// Everything is sent twice, as after a reply that was lost.
TEST_F(CountingScripts, count_once_what_is_sent_twice) {
  const auto twice = [&](const base::Command& command) {
    const Reply first = run(raw, command);
    const Reply second = run(raw, command);
    EXPECT_EQ(first.kind, second.kind);
    EXPECT_EQ(first.integer, second.integer);
    return first;
  };
  Subscriber subscriber(server);
  twice(wire::semaphore::set({kS, 5, once("c:1")}));
  twice(counting::semaphore::acquire(of(kA, 2)));
  EXPECT_EQ(available(), 3);
  twice(counting::semaphore::release(of(kA, 2)));
  twice(wire::semaphore::add({kS, 3, once("c:2")}));
  EXPECT_EQ(available(), 8);
  EXPECT_EQ(twice(wire::semaphore::drain(kS, once("c:3"))).integer, 8);
  twice(wire::semaphore::add_if_there({kS, 1, once("c:4")}));
  EXPECT_EQ(available(), 1);
  EXPECT_THAT(subscriber.messages(),
              ElementsAre(Message{kWake, "5"}, Message{kWake, "5"}, Message{kWake, "8"}, Message{kWake, "1"}));
  raw.command("DEL", "S");
  twice(wire::latch::set({kGate, 4, once("c:5")}));
  EXPECT_EQ(twice(wire::latch::count_down({kGate, 1, once("c:6")})).integer, 3);
  EXPECT_EQ(twice(wire::latch::count_down({kGate, 3, once("c:7")})).integer, 0);
  EXPECT_FALSE(raw.exists("S"));
}

/// In whichever order an acquire, its undo and their repetitions arrive, all permits are there at the end, as long as
/// the undo is answered.
TEST_F(CountingScripts, an_undo_holds_in_whatever_order_it_arrives) {
  const base::Command take = counting::semaphore::acquire(kA), undo = counting::semaphore::undo(kA);
  for (const std::string order : {"tu", "ut", "ttu", "tut", "utu", "utt", "tuu", "ututu"}) {
    SCOPED_TRACE(order);
    store.set_up({count("5")});
    bool given_back = false;
    for (const char step : order) {
      const Reply reply = run(raw, step == 't' ? take : undo);
      if (step == 'u' && reply.is_integer()) given_back = true;
      EXPECT_FALSE(reply.is_error());
    }
    EXPECT_EQ(available(), 5);
    EXPECT_EQ(given_back, order.front() == 't');
  }
}

TEST_F(CountingScripts, forget_what_they_remember_when_its_time_is_over) {
  raw.command("SET", "S", 5);
  wire::AcquireCall call{{&kS, 1}, kA, kLease};
  call.once = wire::Once{wire::acquired_key(kA), milliseconds(1)};
  run(raw, wire::semaphore::acquire(call));
  EXPECT_TRUE(eventually([&] { return raw.command("DBSIZE").integer == 1; }));
  EXPECT_EQ(available(), 4);
}

// ---- leases ----

TEST_F(CountingScripts, give_back_all_permits_that_are_over_at_every_touch) {
  const std::vector<base::Command> touches{counting::permits::acquire(kA),      counting::permits::release(kB),
                                           wire::permits::look(kS, 0),          wire::permits::set_total({kS, 2500}),
                                           wire::permits::set({kS, 7}),         wire::permits::add({kS, 0}),
                                           wire::permits::force_release(kS, kB)};
  for (const base::Command& touch : touches) {
    SCOPED_TRACE(touch.script->name);
    store.set_up({count("0")});
    add_over(2500);
    run(raw, touch);
    const wire::permits::Seen after = seen();
    EXPECT_EQ(after.available + after.held, 2500);
    EXPECT_EQ(raw.command("ZCARD", kLeases).integer, after.held);
    EXPECT_EQ(available(), after.available);
  }
}

/// Redis serves nobody else meanwhile.
TEST_F(CountingScripts, give_back_ten_thousand_at_one_touch_at_most) {
  store.set_up({count("0")});
  add_over(12'345);
  run(raw, wire::permits::look(kS, 0));
  EXPECT_EQ(available(), 10'000);
  EXPECT_EQ(raw.command("ZCARD", kLeases).integer, 2345);
  run(raw, wire::permits::look(kS, 0));
  EXPECT_EQ(available(), 12'345);
  EXPECT_FALSE(raw.exists(kLeases));
}

TEST_F(CountingScripts, know_permits_without_an_end) {
  raw.command("SET", "S", 1);
  EXPECT_TRUE(wire::permits::decode_acquire(run(raw, counting::permits::acquire(kA, wire::permits::kForEver))).granted);
  EXPECT_EQ(raw.command("ZSCORE", kLeases, counting::permits::kIdA).text, std::to_string(kNever));
  EXPECT_EQ(run(raw, counting::permits::acquire(kB)).integer, -1) << "nobody can tell when it is free";
  ASSERT_THAT(seen().permits, SizeIs(1));
  EXPECT_EQ(seen().permits[0].left, std::nullopt);
  const std::string id = wire::permits::shown(counting::permits::kIdA);
  EXPECT_EQ(seen().permits[0].id, id);
  EXPECT_THAT(wire::decode_renew(run(raw, wire::permits::renew({{"S", id}}, kLease)), 1), ElementsAre(true));
  EXPECT_GT(seen().permits[0].left, milliseconds(30'000));
  EXPECT_THAT(wire::decode_renew(run(raw, wire::permits::renew({{"S", id}}, wire::permits::kForEver)), 1),
              ElementsAre(true));
  EXPECT_EQ(seen().permits[0].left, std::nullopt);
}

TEST_F(CountingScripts, keep_permits_without_an_end_for_ten_years_if_the_semaphore_ends) {
  constexpr long long kTenYears = 315'360'000'000;
  raw.command("SET", "S", 1, "PX", 30'000);
  run(raw, counting::permits::acquire(kA, wire::permits::kForEver));
  EXPECT_GT(raw.pttl(kLeases), kTenYears - 10'000);
  raw.command("PEXPIRE", kLeases, 30'000);
  run(raw, wire::permits::renew({{"S", wire::permits::shown(counting::permits::kIdA)}}, wire::permits::kForEver));
  EXPECT_GT(raw.pttl(kLeases), kTenYears - 10'000);
}

TEST_F(CountingScripts, let_a_lease_end_by_the_servers_clock) {
  raw.command("SET", "S", 1);
  run(raw, counting::permits::acquire(kA, milliseconds(50)));
  EXPECT_TRUE(
      eventually([&] { return wire::permits::decode_acquire(run(raw, counting::permits::acquire(kB))).granted; }));
  EXPECT_TRUE(run(raw, counting::permits::release(kA)).is_null());
  EXPECT_EQ(seen().held, 1);
}

TEST_F(CountingScripts, renew_a_thousand_holds_with_one_command) {
  raw.command("SET", "S", 1000);
  std::vector<wire::Renewal> renewals;
  for (int i = 0; i < 1000; ++i) {
    const wire::Owner owner{kA.text + std::to_string(i)};
    const wire::AcquireReply reply =
        wire::permits::decode_acquire(run(raw, counting::permits::acquire(owner, milliseconds(30'000))));
    renewals.push_back({"S", reply.grant.owner.text});
  }
  EXPECT_THAT(wire::decode_renew(run(raw, wire::permits::renew(renewals, kLease)), 1000), testing::Each(true));
  EXPECT_EQ(raw.command("ZCOUNT", kLeases, store.now() + 35'000, "+inf").integer, 1000);
}

/// Else a replica would seem to have confirmed (WAIT) what it has not seen: that counts from the latest write.
TEST_F(CountingScripts, write_something_when_they_renew_to_the_same_end) {
  raw.command("SET", "S", 1);
  const wire::AcquireReply reply =
      wire::permits::decode_acquire(run(raw, counting::permits::acquire(kA, wire::permits::kForEver)));
  for (const long long end : {kNever + 1, kNever}) {
    const base::Reply renewed =
        run(raw, wire::permits::renew({{"S", reply.grant.owner.text}}, wire::permits::kForEver));
    EXPECT_THAT(wire::decode_renew(renewed, 1), ElementsAre(true));
    EXPECT_EQ(raw.command("ZCOUNT", kLeases, end, end).integer, 1);
  }
}

TEST_F(CountingScripts, take_as_many_permits_at_once_as_a_hold_may_have) {
  raw.command("SET", "S", wire::permits::kMostPermits);
  const wire::Owner many = of(kA, wire::permits::kMostPermits);
  const wire::AcquireReply reply = wire::permits::decode_acquire(run(raw, counting::permits::acquire(many)));
  EXPECT_TRUE(reply.granted);
  EXPECT_EQ(available(), 0);
  EXPECT_THAT(wire::decode_renew(run(raw, wire::permits::renew({{"S", reply.grant.owner.text}}, kLease)), 1),
              ElementsAre(true));
  EXPECT_TRUE(wire::decode_release(run(raw, counting::permits::release(reply.grant.owner))));
  EXPECT_EQ(available(), wire::permits::kMostPermits);
}

// ---- as Redisson ----

TEST_F(CountingScripts, follow_the_golden_vectors) {
  Subscriber subscriber(server);
  run(raw, wire::semaphore::add({kS}));
  raw.command("DEL", "S");
  run(raw, wire::semaphore::set({kS, 5}));
  EXPECT_TRUE(run(raw, wire::semaphore::acquire({{&kS, 1}, of(kA, 3), kLease})).is_null());
  EXPECT_EQ(run(raw, wire::semaphore::acquire({{&kS, 1}, of(kA, 3), kLease})).integer, -1);
  EXPECT_EQ(run(raw, wire::semaphore::add({kS, -10})).integer, -8);
  EXPECT_EQ(run(raw, wire::semaphore::add({kS})).integer, -7);
  EXPECT_EQ(run(raw, wire::semaphore::drain(kS)).integer, -7);
  EXPECT_EQ(available(), 0);
  EXPECT_THAT(subscriber.messages(), ElementsAre(Message{kWake, "1"}, Message{kWake, "5"}))
      << "nobody is told of numbers that help nobody";
}

TEST(CountingOnACluster, needs_what_belongs_together_in_one_slot) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "it has no SSUBSCRIBE";
  const RedisServer server({.cluster = true});
  Raw raw(server);
  for (const std::string name : {"plain", "{tag}x", "a{b"}) {
    SCOPED_TRACE(name);
    const wire::LockNames names = wire::semaphore::names(name);
    wire::AcquireCall take{{&names, 1}, kA, kLease};
    take.once = once("c:1");
    EXPECT_EQ(run(raw, wire::semaphore::set({names, 5, once("c:0")})).integer, 1);
    EXPECT_TRUE(run(raw, wire::semaphore::acquire(take)).is_null());
    wire::ReleaseCall back{.names = {&names, 1}, .owner = kA};
    back.once = once("c:2");
    back.undoes = "c:1";
    EXPECT_TRUE(wire::decode_release(run(raw, wire::semaphore::release(back))));
    const Reply granted = run(raw, wire::permits::acquire(take));
    if (name == "a{b") {
      EXPECT_THAT(granted.text, HasSubstr("CROSSSLOT"));
      continue;
    }
    EXPECT_TRUE(wire::permits::decode_acquire(granted).granted);
    EXPECT_TRUE(wire::decode_release(run(raw, wire::permits::release({.names = {&names, 1}, .owner = kA}))));
    EXPECT_EQ(wire::permits::decode_look(run(raw, wire::permits::look(names, 1)))->available, 5);
  }
  const wire::LockNames lone = wire::semaphore::names("a}b");
  EXPECT_THAT(run(raw, wire::semaphore::set({lone, 5, once("c:0")})).text, HasSubstr("CROSSSLOT"));
  EXPECT_FALSE(raw.exists("a}b"));
  for (const std::string name : {"gate", "gate{"}) {
    EXPECT_TRUE(wire::latch::fits_cluster(name));
    const wire::LockNames gate = wire::latch::names(name);
    Subscriber subscriber(server, {gate.channel}, Heard::sharded);
    EXPECT_EQ(run(raw, wire::latch::set({gate, 1, once("c:3"), Publish::spublish})).integer, 1);
    EXPECT_EQ(run(raw, wire::latch::count_down({gate, 1, once("c:4"), Publish::spublish})).integer, 0);
    EXPECT_TRUE(subscriber.wait_for(2));
  }
}

}  // namespace
}  // namespace holdfast::test::counting_scripts_test
