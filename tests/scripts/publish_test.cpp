// SPDX-License-Identifier: Apache-2.0
// How scripts tell of a release: by PUBLISH, by SPUBLISH or by both; on a plain server, and on a node of a cluster.
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scripts/script_call.hpp"
#include "support/listen.hpp"
#include "support/redis_server.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::publish_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr milliseconds kLease{60'000};

struct Setting {
  bool cluster = false;
  bool simple = false;
};

/// Of B, who is to have it published if it is busy.
base::Command publishing_acquire(const wire::LockNames& names, Publish how) {
  return wire::lock::acquire({.names = {&names, 1},
                              .owner = kB,
                              .lease = kLease,
                              .count_listeners = true,
                              .publish = how,
                              .publish_busy = true});
}

class Telling : public testing::TestWithParam<Setting> {
 protected:
  Telling() {
    if (!server_like_redis(7, 0)) return;
    for (const wire::LockNames& each : {names_, other_}) channels_.push_back(each.channel);
    plain_ = std::make_unique<Subscriber>(server_, channels_);
    sharded_ = std::make_unique<Subscriber>(server_, channels_, Heard::sharded);
  }
  void SetUp() override {
    if (!server_like_redis(7, 0)) GTEST_SKIP() << "it has no SPUBLISH";
  }

  static wire::LockNames names_of(const std::string& name) {
    return GetParam().simple ? wire::simple::names(name) : wire::lock::names(name);
  }
  Reply call(const base::Command& command) { return run(raw_, command); }
  std::vector<wire::LockNames> both_locks() const { return {names_, other_}; }
  void take(wire::Names names) {
    const wire::AcquireCall acquire{names, kA, kLease};
    ASSERT_TRUE(call(GetParam().simple ? wire::simple::acquire(acquire) : wire::lock::acquire(acquire)).is_null());
  }
  Reply release(wire::Names names, Publish how) {
    const wire::ReleaseCall release{.names = names, .owner = kA, .publish = how};
    return call(GetParam().simple ? wire::simple::release(release) : wire::lock::release(release));
  }
  Reply release(Publish how) {
    take({&names_, 1});
    return release({&names_, 1}, how);
  }
  Reply force(Publish how) {
    return call(GetParam().simple ? wire::simple::force_release(names_, {}, how)
                                  : wire::lock::force_release(names_, {}, how));
  }
  Message told() const { return {names_.channel, "0"}; }
  /// Again and again, each has heard so many since.
  void expect_heard(std::size_t plain, std::size_t sharded) {
    EXPECT_EQ(plain_->messages().size(), plain);
    EXPECT_EQ(sharded_->messages().size(), sharded);
    plain_->clear();
    sharded_->clear();
  }

  RedisServer server_{ServerOptions{.cluster = GetParam().cluster}};
  Raw raw_{server_};
  const wire::LockNames names_ = names_of("orders");
  const wire::LockNames other_ = names_of("{orders}:2");
  std::vector<std::string> channels_;
  std::unique_ptr<Subscriber> plain_, sharded_;
};
INSTANTIATE_TEST_SUITE_P(Servers, Telling,
                         testing::Values(Setting{false, false}, Setting{false, true}, Setting{true, false},
                                         Setting{true, true}),
                         [](const auto& each) {
                           return std::string(each.param.cluster ? "cluster" : "plain") +
                                  (each.param.simple ? "_simple" : "_lock");
                         });

TEST_P(Telling, a_release_goes_one_way_or_the_other_and_counts_who_hears_it) {
  Subscriber second(server_, {names_.channel}, Heard::sharded);
  EXPECT_EQ(release(Publish::publish).integer, 1);
  expect_heard(1, 0);
  EXPECT_EQ(release(Publish::spublish).integer, 2);
  EXPECT_THAT(sharded_->messages(), ElementsAre(told()));
  expect_heard(0, 1);
}

TEST_P(Telling, a_release_by_both_counts_one_who_hears_both_once) {
  EXPECT_EQ(release(Publish::both).integer, 1) << "one listens either way";
  expect_heard(1, 1);
  Subscriber second(server_, {names_.channel}, Heard::sharded);
  EXPECT_EQ(release(Publish::both).integer, 2) << "at least so many";
  Subscriber third(server_, {names_.channel});
  Subscriber fourth(server_, {names_.channel});
  EXPECT_EQ(release(Publish::both).integer, 3);
}

TEST_P(Telling, nothing_is_told_of_what_was_not_released) {
  for (const Publish how : {Publish::publish, Publish::spublish, Publish::both}) {
    EXPECT_TRUE(release({&names_, 1}, how).is_null());
    EXPECT_EQ(force(how).integer, 0);
  }
  expect_heard(0, 0);
}

TEST_P(Telling, several_are_told_each_on_its_channel) {
  const std::vector<wire::LockNames> all = both_locks();
  for (const auto& [how, plain, sharded] :
       {std::tuple(Publish::publish, 2, 0), std::tuple(Publish::spublish, 0, 2), std::tuple(Publish::both, 2, 2)}) {
    take(all);
    EXPECT_EQ(release(all, how).integer, 2);
    expect_heard(static_cast<std::size_t>(plain), static_cast<std::size_t>(sharded));
  }
  take(all);
  release(all, Publish::spublish);
  EXPECT_THAT(sharded_->messages(), UnorderedElementsAre(told(), Message{other_.channel, "0"}));
}

TEST_P(Telling, a_forced_release_goes_the_same_ways) {
  for (const auto& [how, plain, sharded] : {std::tuple(Publish::publish, 1, 0), std::tuple(Publish::spublish, 0, 1),
                                            std::tuple(Publish::both, 1, 1), std::tuple(Publish::automatic, 1, 1)}) {
    take({&names_, 1});
    EXPECT_EQ(force(how).integer, 1);
    expect_heard(static_cast<std::size_t>(plain), static_cast<std::size_t>(sharded));
  }
}

TEST_P(Telling, waiters_count_those_who_listen_the_same_way) {
  if (GetParam().simple) GTEST_SKIP() << "nobody is counted";
  Subscriber second(server_, {names_.channel}, Heard::sharded);
  take({&names_, 1});
  const auto listeners = [&](Publish how) {
    return wire::decode_acquire(
               call(wire::lock::acquire(
                   {.names = {&names_, 1}, .owner = kB, .lease = kLease, .count_listeners = true, .publish = how})))
        .listeners;
  };
  EXPECT_EQ(listeners(Publish::publish), 1);
  EXPECT_EQ(listeners(Publish::spublish), 2);
  EXPECT_EQ(listeners(Publish::both), 2);
}

TEST_P(Telling, an_acquire_that_finds_it_busy_goes_the_same_ways) {
  if (GetParam().simple) GTEST_SKIP() << "it says nothing";
  take({&names_, 1});
  for (const auto& [how, plain, sharded] :
       {std::tuple(Publish::publish, 1, 0), std::tuple(Publish::spublish, 0, 1), std::tuple(Publish::both, 1, 1)}) {
    EXPECT_FALSE(call(publishing_acquire(names_, how)).is_null());
    expect_heard(static_cast<std::size_t>(plain), static_cast<std::size_t>(sharded));
  }
}

TEST_P(Telling, whoever_may_not_spublish_loses_nothing_by_both) {
  raw_.command("ACL", "SETUSER", "default", "-spublish");
  EXPECT_EQ(release(Publish::both).integer, 1);
  EXPECT_EQ(plain_->messages().size(), 1U);
  take({&names_, 1});
  EXPECT_EQ(force(Publish::automatic).integer, 1) << "as where nobody knows yet what the server can";
  // SPUBLISH alone is an error of the lock, as PUBLISH is. The simple lock tells whom it can.
  const Reply refused = release(Publish::spublish);
  if (GetParam().simple) {
    EXPECT_EQ(refused.integer, 0);
  } else {
    EXPECT_TRUE(refused.is_error());
  }
  EXPECT_FALSE(raw_.exists("orders"));
  raw_.command("ACL", "SETUSER", "default", "+@all");  // for the subscriber's marks
}

/// What a server without SPUBLISH says is what one says that lacks the permission: an error, which `both` does without.
TEST(TellingBeforeRedis7, needs_no_spublish) {
  RedisServer server;
  Raw raw(server);
  const wire::LockNames names = wire::lock::names("orders");
  Subscriber subscriber(server, {names.channel});
  run(raw, lock::acquire(names, kA, kLease));
  EXPECT_EQ(run(raw, wire::lock::force_release(names, {}, Publish::automatic)).integer, 1);
  EXPECT_EQ(subscriber.messages().size(), 1U);
}

class PublishesBusy : public testing::Test {
 protected:
  std::vector<Message> heard_of_an_acquire() {
    subscriber_.clear();
    last_ = run(raw_, publishing_acquire(names_, Publish::publish));
    return subscriber_.messages();
  }

  RedisServer server_;
  Raw raw_{server_};
  const wire::LockNames names_ = wire::lock::names("orders");
  Subscriber subscriber_{server_, {names_.channel}};
  Reply last_;
};

TEST_F(PublishesBusy, for_as_long_as_it_is) {
  run(raw_, lock::acquire(names_, kA, kLease));
  const std::vector<Message> heard = heard_of_an_acquire();
  ASSERT_EQ(heard.size(), 1U);
  const long left = std::stol(heard.front().payload);
  EXPECT_LT(left, -30'000);
  EXPECT_GE(left, -60'000);
  EXPECT_EQ(last_.elements.size(), 4U) << "the reply is the same";
}

TEST_F(PublishesBusy, and_nothing_of_a_grant_or_of_what_is_no_lock) {
  EXPECT_THAT(heard_of_an_acquire(), testing::IsEmpty());
  EXPECT_TRUE(last_.is_null());
  EXPECT_THAT(heard_of_an_acquire(), testing::IsEmpty()) << "it is its own";
  raw_.command("SET", "orders", "something else");
  EXPECT_THAT(heard_of_an_acquire(), testing::IsEmpty());
  EXPECT_TRUE(last_.is_error());
}

TEST_F(PublishesBusy, or_does_without_if_it_may_not) {
  run(raw_, lock::acquire(names_, kA, kLease));
  raw_.command("ACL", "SETUSER", "default", "-publish");
  last_ = run(raw_, publishing_acquire(names_, Publish::publish));
  EXPECT_EQ(last_.elements.size(), 4U);
}

}  // namespace
}  // namespace holdfast::test::publish_test
