// SPDX-License-Identifier: Apache-2.0
// The calls of the semaphore: arguments in the order that the scripts read them, and what replies mean, odd ones too.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/scripts.hpp"
#include "kinds/semaphore.hpp"

namespace holdfast::wire::semaphore::semaphore_calls_test {
namespace {

using base::Reply;
using testing::ElementsAre;
using namespace std::chrono_literals;

const Owner kThree{"376fe4aa-10ea-4e60-b8ed-a49082e92014:57", {Mode::exclusive, 3}};
const LockNames kOrders = names("orders");
const std::string kChannel = "redisson_sc:{orders}";
const std::string kTaken = "{orders}:holdfast_once:" + kThree.text + ":acquire";
const std::string kGiven = "{orders}:holdfast_once:" + kThree.text + ":release";

TEST(SemaphoreNames, are_the_raw_name_and_redissons_channel) {
  EXPECT_EQ(kOrders.key, "orders");
  EXPECT_EQ(kOrders.channel, kChannel);
  EXPECT_EQ(names("{t}x").channel, "redisson_sc:{t}x");
}

TEST(SemaphoreCalls, acquire_as_many_as_the_owner_asks_for) {
  AcquireCall call{{&kOrders, 1}, kThree, 30s};
  EXPECT_EQ(acquire(call).script, &scripts::semaphore_acquire);
  EXPECT_THAT(acquire(call).args, ElementsAre("1", "orders", "3", "0"));
  call.once = Once{acquired_key(kThree), 40s};
  EXPECT_THAT(acquire(call).args, ElementsAre("2", "orders", kTaken, "3", "40000"));
  call.count_listeners = true;
  EXPECT_THAT(acquire(call).args, ElementsAre("2", "orders", kTaken, "3", "40000", kChannel));
  for (const Publish publish : {Publish::spublish, Publish::both}) {
    call.publish = publish;
    EXPECT_THAT(acquire(call).args, ElementsAre("2", "orders", kTaken, "3", "40000", kChannel, "SHARDNUMSUB"));
  }
}

TEST(SemaphoreCalls, release_what_the_owner_has_or_perhaps_has) {
  ReleaseCall call{.names = {&kOrders, 1}, .owner = kThree};
  EXPECT_EQ(release(call).script, &scripts::semaphore_release);
  EXPECT_THAT(release(call).args, ElementsAre("1", "orders", "3", "0", kChannel));
  call.once = Once{released_key(kThree), 40s};
  EXPECT_THAT(release(call).args, ElementsAre("2", "orders", kGiven, "3", "40000", kChannel));
  call.undoes = acquired_key(kThree);
  call.publish = Publish::both;
  EXPECT_THAT(release(call).args, ElementsAre("3", "orders", kGiven, kTaken, "3", "40000", kChannel, "both"));
}

TEST(SemaphoreCalls, change_the_number) {
  const ChangeCall call{kOrders, -2, Once{"c:1", 5s}, Publish::spublish};
  const std::string once = "{orders}:holdfast_once:c:1";
  EXPECT_EQ(add(call).script, &scripts::semaphore_add);
  EXPECT_THAT(add(call).args, ElementsAre("2", "orders", once, "-2", "5000", kChannel, "spublish"));
  EXPECT_EQ(add_if_there(call).script, &scripts::semaphore_release);
  EXPECT_THAT(add_if_there({kOrders, 2}).args, ElementsAre("1", "orders", "2", "0", kChannel));
  EXPECT_EQ(set(call).script, &scripts::semaphore_set);
  EXPECT_THAT(set({kOrders, 2}).args, ElementsAre("1", "orders", "2", "0", "0", kChannel));
  EXPECT_THAT(set(call, 9s).args, ElementsAre("2", "orders", once, "-2", "5000", "9000", kChannel, "spublish"));
  EXPECT_EQ(drain(kOrders).script, &scripts::semaphore_drain);
  EXPECT_THAT(drain(kOrders).args, ElementsAre("1", "orders", "0"));
  EXPECT_THAT(drain(kOrders, Once{"c:1", 5s}).args, ElementsAre("2", "orders", once, "5000"));
  EXPECT_EQ(remove(kOrders).script, &scripts::latch_remove);
  EXPECT_THAT(remove(kOrders, Once{"c:1", 5s}, Publish::spublish).args,
              ElementsAre("2", "orders", once, "5000", kChannel, "spublish"));
  EXPECT_THAT(available("orders").args, ElementsAre("GET", "orders"));
}

TEST(SemaphoreReplies, are_numbers_or_make_no_sense) {
  const auto text = [](std::string value) { return Reply{Reply::Kind::text, 0, std::move(value), {}}; };
  const Reply error{Reply::Kind::error, 0, "WRONGTYPE it is a list", {}};
  const Reply seven{Reply::Kind::integer, 7, {}, {}};
  EXPECT_EQ(decode_available({}), 0);
  EXPECT_EQ(decode_available(text("7")), 7);
  EXPECT_EQ(decode_available(text("-7")), -7);
  for (const std::string odd : {"", "many", "7 ", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(decode_available(text(odd)), std::nullopt) << odd;
  }
  EXPECT_EQ(decode_available(error), std::nullopt);
  EXPECT_EQ(decode_available(seven), std::nullopt);
  EXPECT_EQ(decode_number(seven), 7);
  EXPECT_EQ(decode_number({}), std::nullopt);
  EXPECT_EQ(decode_number(text("7")), std::nullopt);
  EXPECT_EQ(decode_number(error), std::nullopt);
}

}  // namespace
}  // namespace holdfast::wire::semaphore::semaphore_calls_test
