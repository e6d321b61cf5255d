// SPDX-License-Identifier: Apache-2.0
// The read-write lock's calls: arguments in the order that the scripts read them, and what replies mean.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/read_write_lock.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::read_write::read_write_calls_test {
namespace {

using base::Command;
using base::Reply;
using testing::ElementsAre;
using namespace std::chrono_literals;

const Owner kOwner{"376fe4aa-10ea-4e60-b8ed-a49082e92014:57"};
const Owner kOther{"376fe4aa-10ea-4e60-b8ed-a49082e92014:58"};
const LockNames kNames = names("orders");
const std::string kHold = "{orders}:" + kOwner.text + ":rwlock_timeout:1";

Reply integer(std::int64_t value) { return {Reply::Kind::integer, value, {}, {}}; }
Reply text(std::string value) { return {Reply::Kind::text, 0, std::move(value), {}}; }
Reply array(std::vector<Reply> elements) { return {Reply::Kind::array, 0, {}, std::move(elements)}; }

TEST(ReadWriteNames, AreRedissons) {
  EXPECT_EQ(kNames.key, "orders");
  EXPECT_EQ(kNames.channel, "redisson_rwlock:{orders}");
  EXPECT_EQ(names("{t}x").channel, "redisson_rwlock:{t}x");
  EXPECT_EQ(hold_key("orders", kOwner.text), kHold);
  EXPECT_EQ(hold_key("{t}x", "o"), "{t}x:o:rwlock_timeout:1");
}

TEST(ReadWriteAcquire, OfAReaderNamesItsHold) {
  const Command command = acquire_read({{&kNames, 1}, kOwner, 30s});
  EXPECT_EQ(command.script, &scripts::read_write_acquire_read);
  EXPECT_THAT(command.args, ElementsAre("2", "orders", kHold, "30000", kOwner.text));
}

TEST(ReadWriteAcquire, OfAWriterNamesTheLockAlone) {
  const Command command = acquire_write({{&kNames, 1}, kOwner, 30s});
  EXPECT_EQ(command.script, &scripts::read_write_acquire_write);
  EXPECT_THAT(command.args, ElementsAre("1", "orders", "30000", kOwner.text));
}

TEST(ReadWriteAcquire, CountsThoseWhoListenAsReleasesAreTold) {
  const AcquireCall call{{&kNames, 1}, kOwner, 30s, true, {}, Publish::spublish};
  EXPECT_THAT(acquire_read(call).args,
              ElementsAre("2", "orders", kHold, "30000", kOwner.text, kNames.channel, "SHARDNUMSUB"));
  EXPECT_THAT(acquire_write(call).args,
              ElementsAre("1", "orders", "30000", kOwner.text, kNames.channel, "SHARDNUMSUB"));
}

TEST(ReadWriteRelease, IsOfOneSide) {
  const ReleaseCall call{.names = {&kNames, 1}, .owner = kOwner, .publish = Publish::both};
  EXPECT_EQ(release_read(call).script, &scripts::read_write_release_read);
  EXPECT_THAT(release_read(call).args, ElementsAre("2", "orders", kHold, kOwner.text, kNames.channel, "both"));
  EXPECT_EQ(release_write(call).script, &scripts::read_write_release_write);
  EXPECT_THAT(release_write(call).args, ElementsAre("1", "orders", kOwner.text, kNames.channel, "both"));
  EXPECT_THAT(release_write({.names = {&kNames, 1}, .owner = kOwner}).args,
              ElementsAre("1", "orders", kOwner.text, kNames.channel));
}

TEST(ReadWriteDowngrade, NamesTheHoldOfTheReader) {
  const Command command = downgrade({kNames, kOther, kOwner, 30s});
  EXPECT_EQ(command.script, &scripts::read_write_downgrade);
  EXPECT_THAT(command.args, ElementsAre("2", "orders", kHold, "30000", kOther.text, kOwner.text, kNames.channel));
  EXPECT_EQ(downgrade({kNames, kOwner, kOwner, 30s, Publish::automatic}).args.back(), "both");
}

TEST(ReadWriteRenew, NamesAllLocksThenTheHoldsOfReadersThenTheFieldOfEach) {
  const std::vector<Renewal> renewals{{"{t}b", "o:2"}, {"a", "o:1", Mode::shared}};
  EXPECT_EQ(renew(renewals, 30s).script, &scripts::read_write_renew);
  EXPECT_THAT(renew(renewals, 30s).args,
              ElementsAre("3", "{t}b", "a", "{a}:o:1:rwlock_timeout:1", "30000", "o:2:write", "o:1"))
      << "a key that is nowhere, as a writer's hold, cannot be named while its slot moves";
  EXPECT_THAT(renew({{"b", "o:2"}}, 30s).args, ElementsAre("1", "b", "30000", "o:2:write"));
  EXPECT_THAT(renew({}, 30s).args, ElementsAre("0", "30000"));
}

TEST(ReadWritePieces, AreTheHoldThenTheLockEachOfOneKey) {
  const AcquireCall call{{&kNames, 1}, kOwner, 30s};
  for (const Command& command : {acquire_read(call), downgrade({kNames, kOwner, kOwner, 30s}),
                                 renew({{"orders", kOwner.text, Mode::shared}}, 30s)}) {
    ASSERT_NE(command.pieces, nullptr) << command.script->name;
    const std::vector<Command> pieces = command.pieces(command);
    ASSERT_EQ(pieces.size(), 2U);
    EXPECT_THAT(pieces[0].args, ElementsAre("SET", kHold, "1", "PX", "30000"));
    EXPECT_EQ(pieces[0].script, nullptr);
    EXPECT_EQ(pieces[1].script, command.script);
    std::vector<std::string> alone = command.args;
    alone[0] = "1";
    alone.erase(alone.begin() + 2);
    EXPECT_EQ(pieces[1].args, alone);
  }
  const Command release = release_read({.names = {&kNames, 1}, .owner = kOwner});
  const std::vector<Command> pieces = release.pieces(release);
  ASSERT_EQ(pieces.size(), 1U) << "what is left of the hold ends by itself";
  EXPECT_THAT(pieces[0].args, ElementsAre("1", "orders", kOwner.text, kNames.channel));
  EXPECT_EQ(renew({{"a", "o:1", Mode::shared}, {"b", "o:2", Mode::shared}}, 30s).pieces, nullptr)
      << "several are sent one by one first";
}

TEST(ReadWriteAcquire, AGrantBesideOthersSaysHowManyListen) {
  const auto reply = [](std::int64_t first, std::int64_t second) {
    base::Reply list{base::Reply::Kind::array};
    for (const std::int64_t each : {first, second}) {
      list.elements.emplace_back(base::Reply::Kind::integer).integer = each;
    }
    return list;
  };
  EXPECT_TRUE(decode_acquire(reply(-2, 3)).granted);
  EXPECT_EQ(decode_acquire(reply(-2, 3)).listeners, 3);
  EXPECT_FALSE(decode_acquire(reply(1, 3)).granted) << "busy, as with any lock";
}

TEST(ReadWriteForce, NamesAnOwnerOrNone) {
  EXPECT_EQ(force_release(kNames).script, &scripts::read_write_force_release);
  EXPECT_THAT(force_release(kNames).args, ElementsAre("1", "orders", kNames.channel, "publish"));
  EXPECT_THAT(force_release(kNames, kOwner, Publish::both).args,
              ElementsAre("1", "orders", kNames.channel, "both", kOwner.text));
}

TEST(ReadWriteQueries, AskForAField) {
  EXPECT_THAT(has_reader("n", "o").args, ElementsAre("HEXISTS", "n", "o"));
  EXPECT_THAT(has_writer("n", "o").args, ElementsAre("HEXISTS", "n", "o:write"));
  EXPECT_EQ(holders("n").script, &scripts::read_write_look);
  EXPECT_THAT(holders("n").args, ElementsAre("1", "n"));
}

TEST(ReadWriteHolders, AreTheWriterAndTheReaders) {
  const Reply reply = array({text("write"), integer(90'000), text(kOwner.text), text("2"), integer(30'000),
                             text(kOwner.text + ":write"), text("1"), integer(90'000)});
  const Holders holders = decode_holders(reply);
  ASSERT_TRUE(holders.writer);
  EXPECT_EQ(holders.writer->owner, kOwner.text);
  EXPECT_EQ(holders.writer->count, 1);
  EXPECT_EQ(holders.writer->left, 90s);
  ASSERT_EQ(holders.readers.size(), 1U);
  EXPECT_EQ(holders.readers[0].owner, kOwner.text);
  EXPECT_EQ(holders.readers[0].count, 2);
  EXPECT_EQ(holders.readers[0].left, 30s);
  EXPECT_FALSE(holders.free());
  EXPECT_EQ(decode_holder(reply).count, 1) << "the writer's";
  const std::vector<Held> all = decode_all(reply);
  ASSERT_EQ(all.size(), 1 + holders.readers.size());
  EXPECT_EQ(all[0].mode, Mode::exclusive) << "first";
  EXPECT_FALSE(all[0].left) << "its lease is that of the lock";
  EXPECT_EQ(all[1].mode, Mode::shared);
  EXPECT_EQ(all[1].count, 2);
  EXPECT_EQ(all[1].left, 30s);
}

TEST(ReadWriteHolders, AreOneOfTheReadersWhereNobodyWrites) {
  const Reply reply = array(
      {text("read"), integer(9), text(kOther.text), text("3"), integer(-2), text(kOwner.text), text("1"), integer(9)});
  EXPECT_FALSE(decode_holders(reply).writer);
  EXPECT_EQ(decode_holders(reply).readers.size(), 2U);
  EXPECT_EQ(decode_holder(reply).owner, kOther.text);
  EXPECT_EQ(decode_holder(reply).count, 3);
  ASSERT_EQ(decode_all(reply).size(), 2U);
  EXPECT_EQ(decode_all(reply)[0].left, 0ms) << "it is over";
}

TEST(ReadWriteHolders, AreNobodyWhereTheReplyMakesNoSense) {
  const std::string owner = kOwner.text;
  for (const Reply& odd :
       {Reply{}, integer(1), text("read"), Reply{Reply::Kind::error, 0, "WRONGTYPE it is a list", {}}, array({}),
        array({text("read"), integer(9)}), array({text("read"), integer(9), text(owner)}),
        array({text("read"), integer(9), text("mode"), text("1"), integer(9)}),
        array({text("read"), integer(9), text(owner), text("0"), integer(9)}),
        array({text("read"), integer(9), text(owner), text("x"), integer(9)}),
        array({text("read"), integer(9), text(owner), text("1"), text("9")})}) {
    EXPECT_TRUE(decode_holders(odd).free());
    EXPECT_EQ(decode_holder(odd).owner, "");
    EXPECT_TRUE(decode_all(odd).empty());
  }
}

}  // namespace
}  // namespace holdfast::wire::read_write::read_write_calls_test
