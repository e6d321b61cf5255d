// SPDX-License-Identifier: Apache-2.0
// The fair lock's scripts in sequences, in real time, and on servers that refuse something.
#include <thread>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scripts/fair_state.hpp"
#include "scripts/user_without.hpp"
#include "support/server_program.hpp"
#include "support/wait.hpp"

namespace holdfast::test::fair_scripts_test {
namespace {

using namespace fair_lock;
using namespace table;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FairScripts : public testing::Test {
 protected:
  Reply call(const base::Command& command) { return run(raw, command); }
  bool takes(const wire::Owner& owner, milliseconds turn) { return call(ask(owner, turn)).is_null(); }
  std::string first() { return raw.command("LINDEX", kQueue, 0).text; }
  Raw user_without(const std::string& rights) { return test::user_without(server, raw, rights); }

  RedisServer server;
  Raw raw{server};
  Store store{raw};
};

TEST_F(FairScripts, follow_the_golden_vectors) {
  const milliseconds usual(300'000), short_wait(50'000);
  Subscriber subscriber(server);
  EXPECT_TRUE(takes(kX, usual));
  expect_reply(call(ask(kY, usual)), behind(0, 60'000));
  store.expect(kept(with(held(kX, 60'000), {{kY, 360'000}})));
  expect_reply(call(ask(kZ, short_wait)), behind(1, 60'000));
  store.expect(ending(with(held(kX, 60'000), {{kY, 360'000}, {kZ, 410'000}}), 360'000 + kDay));
  EXPECT_EQ(call(give_back(kX)).integer, 1);
  EXPECT_THAT(subscriber.messages(), ElementsAre(turn_of(kY)));
  EXPECT_TRUE(takes(kY, usual));
  store.expect(ending(with(held(kY, 60'000), {{kZ, 110'000}}), 360'000 + kDay));
}

TEST_F(FairScripts, who_is_next_and_dead_costs_the_others_one_turn_and_no_busy_waiting) {
  const milliseconds turn(300);
  ASSERT_TRUE(takes(kX, turn));
  for (const wire::Owner& owner : {kY, kZ}) ASSERT_FALSE(takes(owner, turn));
  // Nobody is there to hear that it is the turn of the one.
  Subscriber other(server, {fair::wake_channel(kL, kZ)});
  EXPECT_EQ(call(give_back(kX)).integer, 1);
  EXPECT_THAT(other.messages(), ElementsAre(turn_of(kZ))) << "so the one behind is told";
  const long long began = store.now();
  int asked = 0;
  for (Reply reply; asked < 20 && !(reply = call(ask(kZ, turn))).is_null(); ++asked) {
    ASSERT_TRUE(reply.is_array());
    const long long left = reply.elements.at(1).integer;
    ASSERT_GE(left, 1);
    ASSERT_LE(left, 300);
    std::this_thread::sleep_for(milliseconds(left));
  }
  EXPECT_GE(store.now() - began, 250);
  EXPECT_LE(asked, 5);
  EXPECT_FALSE(raw.exists(kQueue));
}

/// `many` waiters in order, with deadlines a second apart, and others behind them.
std::vector<std::pair<wire::Owner, long long>> line_of(int many, long long first) {
  std::vector<std::pair<wire::Owner, long long>> line;
  for (int i = 0; i < many; ++i) {
    line.emplace_back(wire::Owner{"44444444-2222-8333-8444-" + std::to_string(100'000'000'000 + i) + ":4"},
                      first + 1000 * i);
  }
  return line;
}

// A turn for each of a hundred, and three pauses between two questions of each.
TEST_F(FairScripts, a_long_queue_asks_rarely_and_its_deadlines_say_so) {
  constexpr milliseconds kSecond{1000};
  const State busy = held(kX, 30'000);
  const auto expect_joined = [&](int others, long long deadline) {
    SCOPED_TRACE(others);
    auto line = line_of(others, 31'000);
    store.set_up(with(busy, line));
    expect_reply(call(ask(kY, kSecond)), behind(others, 30'000));
    line.emplace_back(kY, deadline);
    store.expect(kept(with(busy, line)));
    line.back().second = 10;  // long ago
    store.set_up(with(busy, line));
    expect_reply(call(ask(kY, kSecond)), behind(others, 30'000));
    line.back().second = 32'000 + 1000 * std::min(others, 100) + std::max(40 * others - 1000, 0);
    store.expect(kept(with(busy, line)));
  };
  expect_joined(20, 51'000);
  expect_joined(60, 30'000 + 62'000 + 60 * 40 - 1000);
  expect_joined(99, 30'000 + 101'000 + 99 * 40 - 1000);
  expect_joined(500, 530'000);
}

// So nobody's deadline is further away than a hundred turns, however long the queue.
TEST_F(FairScripts, who_has_a_hundred_before_it_has_no_turn_more_than_the_last_of_them) {
  const State busy = held(kX, 30'000);
  for (const int others : {99, 100}) {
    auto line = line_of(others, 31'000);
    store.set_up(with(busy, line));
    expect_reply(call(ask(kY)), behind(others, 30'000));
    line.emplace_back(kY, line.back().second + (others < 100 ? kTurn.count() : 0));
    store.expect(kept(with(busy, line)));
  }
}

// It may be subscribing just then: no sooner does its turn end, or whoever enters before it takes that off as well.
TEST_F(FairScripts, whom_no_message_reaches_keeps_its_place_while_those_ahead_enter) {
  constexpr milliseconds kSecond{1000};
  auto line = line_of(4, 31'000);
  store.set_up(with(held(kX, 30'000), line));
  EXPECT_EQ(call(give_back(kX, kSecond)).integer, 0);
  for (const auto& [owner, deadline] : line) {
    EXPECT_EQ(first(), owner.text);
    EXPECT_TRUE(takes(owner, kSecond));
    EXPECT_EQ(call(give_back(owner, kSecond)).integer, 0);
  }
}

TEST_F(FairScripts, of_a_long_queue_only_the_first_hundred_lose_a_turn) {
  auto line = line_of(150, 31'000);
  const auto loses = [&line](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) line[i].second -= 1000;
  };
  store.set_up(with({}, line));
  EXPECT_TRUE(takes(line.front().first, milliseconds(1000)));
  const wire::Owner owner = line.front().first;
  line.erase(line.begin());
  loses(0, 100);
  store.expect(with(held(owner, 60'000), line));
  EXPECT_EQ(call(leave(line[20].first, milliseconds(1000))).integer, 1);
  line.erase(line.begin() + 20);
  loses(20, 99);
  store.expect(with(held(owner, 60'000), line));
  EXPECT_EQ(call(leave(line[120].first, milliseconds(1000))).integer, 1);
  line.erase(line.begin() + 120);
  store.expect(with(held(owner, 60'000), line));
}

TEST_F(FairScripts, who_hears_that_it_is_next_is_told_alone) {
  for (const wire::Owner& owner : {kX, kY, kZ}) takes(owner, kTurn);
  Subscriber one(server, {fair::wake_channel(kL, kY)});
  Subscriber other(server, {fair::wake_channel(kL, kZ)});
  call(give_back(kX));
  EXPECT_THAT(one.messages(), ElementsAre(turn_of(kY)));
  EXPECT_THAT(other.messages(), IsEmpty());
}

TEST_F(FairScripts, who_is_alive_keeps_its_place_however_long_the_lock_is_held) {
  const milliseconds turn(100);
  ASSERT_TRUE(takes(kX, turn));
  for (const wire::Owner& owner : {kY, kZ}) ASSERT_FALSE(takes(owner, turn));
  for (const wire::Owner& owner : {kY, kZ}) raw.command("ZADD", kDeadlines, store.now() + 500, owner.text);
  EXPECT_FALSE(takes(kY, turn));
  const long long over = std::stoll(raw.command("ZSCORE", kDeadlines, kZ.text).text);
  EXPECT_GT(std::stoll(raw.command("ZSCORE", kDeadlines, kY.text).text), over) << "who asks again puts it off";
  ASSERT_TRUE(eventually([&] { return store.now() > over; }));
  EXPECT_FALSE(takes(kY, turn));
  EXPECT_EQ(first(), kY.text);
  call(give_back(kX));
  EXPECT_TRUE(takes(kY, turn));
}

TEST_F(FairScripts, those_who_wait_enter_in_the_order_in_which_they_came) {
  std::vector<wire::Owner> owners;
  for (int i = 0; i < 60; ++i) owners.push_back({kX.text + std::to_string(i)});
  for (const wire::Owner& owner : owners) takes(owner, milliseconds(1000));
  for (std::size_t i = 0; i < owners.size(); ++i) {
    for (std::size_t other = owners.size() - 1; other > i; other /= 2) ASSERT_FALSE(takes(owners[other], kTurn));
    call(give_back(owners[i]));
    if (i + 1 < owners.size()) {
      ASSERT_TRUE(takes(owners[i + 1], milliseconds(1000))) << i;
    }
  }
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

TEST_F(FairScripts, leave_nothing_where_a_write_is_refused) {
  for (const std::string right : {"-hset", "-pexpire"}) {
    Raw app = user_without(right);
    EXPECT_TRUE(run(app, ask(kX)).is_error()) << right;
    EXPECT_EQ(raw.command("DBSIZE").integer, 0) << right;
  }
  takes(kX, kTurn);
  for (const std::string right : {"-zadd", "-rpush"}) {
    Raw app = user_without(right);
    EXPECT_TRUE(run(app, ask(kY)).is_error()) << right;
    EXPECT_EQ(raw.command("DBSIZE").integer, 1) << right;
  }
}

TEST_F(FairScripts, tell_in_every_way) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "it has no SPUBLISH";
  const std::string channel = fair::wake_channel(kL, kY);
  Subscriber plain(server, {channel}), sharded(server, {channel}, Heard::sharded);
  for (const auto& [how, to_plain, to_sharded] :
       {std::tuple(Publish::publish, 1U, 0U), std::tuple(Publish::spublish, 0U, 1U),
        std::tuple(Publish::both, 1U, 1U)}) {
    for (const base::Command& end :
         {fair::release({.names = {&kL, 1}, .owner = kX, .publish = how}), fair::force_release(kL, {}, how)}) {
      raw.flushall();
      for (const wire::Owner& owner : {kX, kY}) takes(owner, kTurn);
      EXPECT_EQ(call(end).integer, 1);
      EXPECT_EQ(plain.messages().size(), to_plain);
      EXPECT_EQ(sharded.messages().size(), to_sharded);
      plain.clear();
      sharded.clear();
    }
    raw.flushall();
    for (const wire::Owner& owner : {kX, kZ, kY}) takes(owner, kTurn);
    call(give_back(kX));
    plain.clear();
    EXPECT_EQ(call(fair::leave({{&kL, 1}, kZ, kTurn, how})).integer, 1);
    EXPECT_EQ(plain.messages().size(), to_plain);
    EXPECT_EQ(sharded.messages().size(), to_sharded);
    plain.clear();
    sharded.clear();
  }
}

TEST(FairRights, those_that_are_documented_suffice) {
  const RedisServer server(
      {.users = {"app on >secret ~lock:* ~redisson_lock_queue:{lock:*} ~redisson_lock_timeout:{lock:*} "
                 "&redisson_lock__channel:{lock:*}:* -@all +eval +evalsha +pttl +hset +pexpire +hexists +hdel +publish "
                 "+hlen +hgetall +type +time +lindex +lpop +lrange +lrem +rpush +llen +zscore +zadd +zrem +zrange "
                 "+zrank +exists"}});
  Endpoint endpoint = Endpoint::of(server);
  endpoint.user = "app";
  endpoint.password = "secret";
  Raw raw(endpoint);
  const wire::LockNames names = fair::names("lock:1");
  const auto ask_for = [&](const wire::Owner& owner) {
    wire::AcquireCall call{{&names, 1}, owner, kLease};
    call.turn = kTurn;
    return run(raw, fair::acquire(call));
  };
  EXPECT_TRUE(ask_for(kX).is_null());
  for (const wire::Owner& owner : {kY, kZ, kJ, kJ}) EXPECT_TRUE(ask_for(owner).is_array());
  EXPECT_TRUE(run(raw, fair::line("lock:1", 5)).is_array());
  EXPECT_EQ(run(raw, fair::release({{&names, 1}, kX})).integer, 0);
  EXPECT_TRUE(ask_for(kY).is_null());
  EXPECT_EQ(run(raw, fair::force_release(names)).integer, 1);
  EXPECT_EQ(run(raw, fair::leave({{&names, 1}, kZ, kTurn})).integer, 1);
}

TEST(FairOnACluster, needs_the_lock_and_its_queue_in_one_slot) {
  const RedisServer server({.cluster = true});
  Raw raw(server);
  for (const std::string name : {"plain", "{tag}x"}) {
    const wire::LockNames names = fair::names(name);
    wire::AcquireCall call{{&names, 1}, kX, kLease};
    call.turn = kTurn;
    EXPECT_TRUE(run(raw, fair::acquire(call)).is_null());
    wire::AcquireCall other{{&names, 1}, kY, kLease};
    other.turn = kTurn;
    EXPECT_TRUE(run(raw, fair::acquire(other)).is_array());
    EXPECT_EQ(run(raw, fair::line(name, 5)).elements.size(), 6U);
    EXPECT_TRUE(wire::decode_release(run(raw, fair::release({{&names, 1}, kX}))));
    EXPECT_EQ(run(raw, fair::leave({{&names, 1}, kY, kTurn})).integer, 1);
  }
  const wire::LockNames lone = fair::names("a{b");
  EXPECT_THAT(run(raw, fair::acquire({{&lone, 1}, kX, kLease})).text, HasSubstr("CROSSSLOT"));
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

TEST_F(FairScripts, a_grant_that_gets_no_expiry_leaves_nothing) {
  for (const std::string rights : {"-pexpire", "-pexpire -hdel"}) {
    Raw app = user_without(rights);
    EXPECT_TRUE(run(app, ask(kX)).is_error()) << rights;
    EXPECT_FALSE(raw.exists("L")) << rights;
  }
}

/// In a long queue each asks rarely: its deadline is later by a turn for each of a hundred before it, and by its pause.
TEST_F(FairScripts, a_newcomer_to_a_long_queue_has_until_its_next_question) {
  ASSERT_TRUE(takes(kX, kTurn));
  raw.command("EVAL",
              "for i = 1, 500 do redis.call('RPUSH', KEYS[1], ARGV[1] .. i) redis.call('ZADD', KEYS[2], ARGV[2], "
              "ARGV[1] .. i) end",
              2, kQueue, kDeadlines, kY.text.substr(0, 37), store.now() + 30'000);
  expect_reply(call(ask(kZ, milliseconds(1'000))), behind(500, 60'000));
  const Reply late =
      raw.command("EVAL",
                  "local t = redis.call('TIME') return redis.call('ZSCORE', KEYS[1], ARGV[1]) - t[1] * 1000 - "
                  "math.floor(t[2] / 1000) - redis.call('PTTL', KEYS[2])",
                  2, kDeadlines, "L", kZ.text);
  EXPECT_NEAR(static_cast<double>(late.integer), 102 * 1'000 + 40 * 500 - 1'000, 3);
}

}  // namespace
}  // namespace holdfast::test::fair_scripts_test
