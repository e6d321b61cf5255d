// SPDX-License-Identifier: Apache-2.0
// The calls of the leased semaphore, and the ids of its permits.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/leased_semaphore.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::permits::permits_calls_test {
namespace {

using base::Reply;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;
using namespace std::string_literals;

const std::string kClient = "376fe4aa-10ea-4e60-b8ed-a49082e92014";
const Owner kOne{kClient + ":57"};
const Owner kTwo{kClient + ":57", {Mode::exclusive, 2}};
// The second half of the client's UUID, and 57 times 65536.
const std::string kFirstShown = "376fe4aa10ea4e60b8eda49083222014", kSecondShown = "376fe4aa10ea4e60b8eda49083222015";
const std::string kFirst = "\x37\x6f\xe4\xaa\x10\xea\x4e\x60\xb8\xed\xa4\x90\x83\x22\x20\x14"s;
const std::string kSecond = "\x37\x6f\xe4\xaa\x10\xea\x4e\x60\xb8\xed\xa4\x90\x83\x22\x20\x15"s;
const LockNames kOrders = names("orders");
const std::string kChannel = "redisson_sc:{orders}";

Reply integer(std::int64_t value) { return {Reply::Kind::integer, value, {}, {}}; }
Reply text(std::string value) { return {Reply::Kind::text, 0, std::move(value), {}}; }
Reply array(std::vector<Reply> elements) { return {Reply::Kind::array, 0, {}, std::move(elements)}; }

TEST(PermitNames, are_redissons) {
  EXPECT_EQ(kOrders.channel, kChannel);
  EXPECT_EQ(expiries("orders"), "{orders}:timeout");
  EXPECT_EQ(expiries("{t}x"), "{t}x:timeout");
}

TEST(PermitIds, follow_from_the_owner) {
  EXPECT_THAT(ids_of(kOne), ElementsAre(kFirst));
  EXPECT_THAT(ids_of(kTwo), ElementsAre(kFirst, kSecond));
  EXPECT_EQ(shown(kFirst), kFirstShown);
}

TEST(PermitIds, are_what_a_grant_and_redissons_users_call_them) {
  EXPECT_THAT(ids_of({kFirstShown}), ElementsAre(kFirst));
  EXPECT_THAT(ids_of({kFirstShown + "," + kSecondShown}), ElementsAre(kFirst, kSecond));
  EXPECT_THAT(ids_of({"376FE4AA10EA4E60B8EDA49083222014"}), ElementsAre(kFirst));
}

TEST(PermitIds, are_none_of_other_texts) {
  const std::string most = kFirstShown.substr(1);
  for (const std::string& odd :
       {""s, ","s, "nobody"s, most, kFirstShown + "0", kFirstShown + ",", "," + kFirstShown,
        kFirstShown + ";" + kSecondShown, "g" + most, "-" + most, "+" + most, kFirstShown + "," + most}) {
    EXPECT_THAT(ids_of({odd}), IsEmpty()) << odd;
  }
}

TEST(PermitIds, are_none_of_a_text_that_names_one_twice_or_too_many) {
  EXPECT_THAT(ids_of({kFirstShown + "," + kFirstShown}), IsEmpty());
  EXPECT_THAT(ids_of({kFirstShown + "," + kSecondShown + "," + kFirstShown}), IsEmpty());
  std::string many;
  for (std::uint32_t i = 0; i < kMostPermits; ++i) {
    many += (i == 0 ? "" : ",") + std::to_string(i + 10'000) + kFirstShown.substr(5);
  }
  EXPECT_THAT(ids_of({many}), SizeIs(kMostPermits));
  EXPECT_THAT(ids_of({many + "," + kSecondShown}), IsEmpty());
}

TEST(PermitIds, differ_between_numbers_and_between_those_of_one_number) {
  std::set<std::string> all;
  const std::string last = "ffffffff-ffff-4fff-bfff-ffffffffffff";
  for (const std::string& client : {kClient, last}) {
    for (const std::string number : {"1", "2", "3", "1000000", "281474976710655"}) {
      for (std::string& id : ids_of({client + ":" + number, {Mode::exclusive, kMostPermits}})) {
        EXPECT_EQ(id.size(), 16U);
        all.insert(std::move(id));
      }
    }
  }
  EXPECT_THAT(all, SizeIs(10 * kMostPermits));
}

TEST(PermitIds, of_older_versions_of_redisson_are_shown_as_they_are) { EXPECT_EQ(shown(kFirstShown), kFirstShown); }

TEST(PermitCalls, acquire_with_the_ids) {
  AcquireCall call{{&kOrders, 1}, kTwo, 30s};
  EXPECT_EQ(acquire(call).script, &scripts::permits_acquire);
  EXPECT_THAT(acquire(call).args,
              ElementsAre("2", "orders", "{orders}:timeout", "30000", kChannel, "publish", "", kFirst, kSecond));
  call.count_listeners = true;
  call.lease = kForEver;
  EXPECT_THAT(acquire(call).args,
              ElementsAre("2", "orders", "{orders}:timeout", "-1", kChannel, "publish", "NUMSUB", kFirst, kSecond));
  call.publish = Publish::spublish;
  EXPECT_THAT(acquire(call).args, ElementsAre("2", "orders", "{orders}:timeout", "-1", kChannel, "spublish",
                                              "SHARDNUMSUB", kFirst, kSecond));
}

TEST(PermitCalls, release_by_id) {
  EXPECT_EQ(release({.names = {&kOrders, 1}, .owner = kTwo}).script, &scripts::permits_release);
  const Owner named{kFirstShown + "," + kSecondShown};
  for (const Owner& owner : {kTwo, named}) {
    EXPECT_THAT(release({.names = {&kOrders, 1}, .owner = owner}).args,
                ElementsAre("2", "orders", "{orders}:timeout", kChannel, "publish", kFirst, kSecond));
  }
}

TEST(PermitCalls, force_all_or_some_and_with_a_text_that_is_no_owner_none) {
  EXPECT_EQ(force_release(kOrders).script, &scripts::permits_force_release);
  EXPECT_THAT(force_release(kOrders, {}, Publish::both).args,
              ElementsAre("2", "orders", "{orders}:timeout", kChannel, "both"));
  EXPECT_THAT(force_release(kOrders, kOne).args,
              ElementsAre("2", "orders", "{orders}:timeout", kChannel, "publish", kFirst));
  EXPECT_THAT(force_release(kOrders, Owner{"nobody"}).args,
              ElementsAre("2", "orders", "{orders}:timeout", kChannel, "publish", ""));
}

TEST(PermitCalls, renew_many) {
  const base::Command command = renew({{"orders", kFirstShown + "," + kSecondShown}, {"{t}x", kFirstShown}}, 30s);
  EXPECT_EQ(command.script, &scripts::permits_renew);
  EXPECT_THAT(command.args, ElementsAre("2", "{orders}:timeout", "{t}x:timeout", "30000", kFirst + kSecond, kFirst));
}

TEST(PermitCalls, ask) {
  EXPECT_EQ(set_total({kOrders, 4}).script, &scripts::permits_set_total);
  EXPECT_EQ(set({kOrders, 4}).script, &scripts::permits_set);
  EXPECT_EQ(add({kOrders, 4}).script, &scripts::permits_add);
  EXPECT_THAT(set_total({kOrders, 4}).args,
              ElementsAre("2", "orders", "{orders}:timeout", "4", "0", kChannel, "publish"));
  for (const auto& call : {set({kOrders, 4}, 600s), set_total({kOrders, 4}, 600s)}) {
    EXPECT_THAT(call.args, ElementsAre("2", "orders", "{orders}:timeout", "4", "0", kChannel, "publish", "600000"));
  }
  EXPECT_THAT(
      add({kOrders, -4, Once{"c:1", 20s}, Publish::both}).args,
      ElementsAre("3", "orders", "{orders}:timeout", "{orders}:holdfast_once:c:1", "-4", "20000", kChannel, "both"));
  EXPECT_EQ(remove(kOrders).script, &scripts::permits_remove);
  EXPECT_THAT(remove(kOrders).args, ElementsAre("2", "orders", "{orders}:timeout", "0", kChannel, "publish"));
  EXPECT_THAT(remove(kOrders, Once{"c:1", 20s}, Publish::both).args,
              ElementsAre("3", "orders", "{orders}:timeout", "{orders}:holdfast_once:c:1", "20000", kChannel, "both"));
  EXPECT_EQ(look(kOrders, 9).script, &scripts::permits_look);
  EXPECT_THAT(look(kOrders, 9).args, ElementsAre("2", "orders", "{orders}:timeout", kChannel, "publish", "9"));
  EXPECT_THAT(has_owner(expiries("orders"), {kFirstShown}).args, ElementsAre("ZSCORE", "{orders}:timeout", kFirst));
  EXPECT_THAT(has_owner(expiries("orders"), {"nobody"}).args, ElementsAre("ZSCORE", "{orders}:timeout", ""));
}

TEST(PermitCalls, tell_the_client_by_half) {
  EXPECT_EQ(client_begin_of_permit("376fe4aa10ea8e60b8eda49082e92014"), "376fe4aa-10ea-8e60");
  EXPECT_EQ(client_begin_of_permit("376fe4aa10ea8e60b8eda49082e92014,376fe4aa10ea8e60b8eda49082e92015"),
            "376fe4aa-10ea-8e60");
  EXPECT_EQ(client_begin_of_permit("376fe4aa"), "");
  EXPECT_EQ(client_begin_of_permit("no hexadecimal digits at all, no"), "");
}

TEST(PermitReplies, name_what_was_granted) {
  const AcquireReply granted = decode_acquire(array({integer(-1), text(kFirst), text(kSecond)}));
  EXPECT_TRUE(granted.granted);
  EXPECT_EQ(granted.grant.owner.text, kFirstShown + "," + kSecondShown);
  EXPECT_EQ(decode_acquire(integer(900)).busy_for, 900ms);
  const AcquireReply counted = decode_acquire(array({integer(1), integer(900), integer(3)}));
  EXPECT_EQ(counted.busy_for, 900ms);
  EXPECT_EQ(counted.listeners, 3);
  for (const Reply& odd : {Reply{}, text("OK"), array({}), array({integer(-1)}), array({integer(-1), text("short")}),
                           array({integer(-1), text(kFirst), integer(4)})}) {
    EXPECT_FALSE(decode_acquire(odd).granted);
    EXPECT_FALSE(decode_acquire(odd).busy_for);
  }
}

TEST(PermitReplies, say_that_nobody_can_have_so_many) {
  EXPECT_TRUE(decode_acquire(integer(-2)).unset);
  EXPECT_LT(decode_acquire(integer(-2)).busy_for, 0ms) << "nobody knows when";
  EXPECT_TRUE(decode_acquire(array({integer(1), integer(-2), integer(3)})).unset);
  const AcquireReply few = decode_acquire(array({integer(1), integer(900), integer(-1), integer(0)}));
  EXPECT_FALSE(few.unset);
  EXPECT_EQ(few.in_all, 0);
  EXPECT_EQ(few.busy_for, 900ms);
  EXPECT_EQ(few.listeners, -1);
  for (const Reply& others : {integer(900), integer(-1), array({integer(1), integer(900), integer(3)})}) {
    EXPECT_FALSE(decode_acquire(others).unset);
    EXPECT_EQ(decode_acquire(others).in_all, std::nullopt);
  }
}

TEST(PermitReplies, tell_what_is_held) {
  const std::optional<Seen> seen =
      decode_look(array({integer(2), integer(5), text(kFirst), integer(900), text("old"), integer(-1)}));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->available, 2);
  EXPECT_EQ(seen->held, 5);
  ASSERT_THAT(seen->permits, SizeIs(2));
  EXPECT_EQ(seen->permits[0].id, kFirstShown);
  EXPECT_EQ(seen->permits[0].left, 900ms);
  EXPECT_EQ(seen->permits[1].id, "old");
  EXPECT_EQ(seen->permits[1].left, std::nullopt);
  for (const Reply& odd :
       {Reply{}, text("OK"), array({}), array({integer(1)}), array({integer(1), text("2")}),
        array({integer(1), integer(2), text(kFirst)}), array({integer(1), integer(2), text(kFirst), text("900")})}) {
    EXPECT_FALSE(decode_look(odd));
  }
}

}  // namespace
}  // namespace holdfast::wire::permits::permits_calls_test
