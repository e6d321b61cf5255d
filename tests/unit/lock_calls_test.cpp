// SPDX-License-Identifier: Apache-2.0
// The calls of the plain lock: arguments in the order that the scripts read them, and what replies mean, odd ones too.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/lock.hpp"
#include "kinds/scripts.hpp"
#include "kinds/server_calls.hpp"

namespace holdfast::wire::lock::lock_calls_test {
namespace {

using base::Command;
using base::Reply;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;
using namespace std::string_literals;

const Owner kOwner{"376fe4aa-10ea-4e60-b8ed-a49082e92014:57"};

Command acquire(const LockNames& name, const Owner& owner, std::chrono::milliseconds lease, bool count = false) {
  return lock::acquire({{&name, 1}, owner, lease, count});
}
Command release(const LockNames& name, const Owner& owner) { return lock::release({{&name, 1}, owner}); }

Reply null() { return {}; }
Reply integer(std::int64_t value) { return {Reply::Kind::integer, value, {}, {}}; }
Reply text(std::string value) { return {Reply::Kind::text, 0, std::move(value), {}}; }
Reply error(std::string value) { return {Reply::Kind::error, 0, std::move(value), {}}; }
Reply array(std::vector<Reply> elements) { return {Reply::Kind::array, 0, {}, std::move(elements)}; }

/// Replies that no call expects.
std::vector<Reply> odd_replies() {
  return {
      text(""),  text("OK"),          text("1"),      error("ERR no such thing"), error("WRONGTYPE Operation against"),
      array({}), array({integer(1)}), array({null()})};
}

TEST(LockNames, AreTheRawNameAndItsChannel) {
  const LockNames plain = names("orders");
  EXPECT_EQ(plain.key, "orders");
  EXPECT_EQ(plain.channel, "redisson_lock__channel:{orders}");
  EXPECT_EQ(names("{t}x").channel, "redisson_lock__channel:{t}x");
  EXPECT_EQ(names("a\0b"s).key, "a\0b"s);
}

TEST(Acquire, SendsTheKeyTheLeaseAndTheOwner) {
  const Command command = acquire(names("orders"), kOwner, 30s);
  EXPECT_EQ(command.script, &scripts::lock_acquire);
  EXPECT_THAT(command.args, ElementsAre("1", "orders", "30000", kOwner.text));
}

TEST(Acquire, SendsTheChannelWhereThoseWhoListenAreToBeCounted) {
  EXPECT_THAT(acquire(names("orders"), kOwner, 30s, true).args,
              ElementsAre("1", "orders", "30000", kOwner.text, "redisson_lock__channel:{orders}"));
}

TEST(Acquire, CountsThoseWhoListenAsReleasesAreTold) {
  const LockNames name = names("orders");
  const auto last = [&](Publish how) {
    return lock::acquire({.names = {&name, 1}, .owner = kOwner, .lease = 30s, .count_listeners = true, .publish = how})
        .args.back();
  };
  EXPECT_EQ(last(Publish::publish), name.channel);
  EXPECT_EQ(last(Publish::automatic), name.channel) << "not known yet";
  EXPECT_EQ(last(Publish::spublish), "SHARDNUMSUB");
  EXPECT_EQ(last(Publish::both), "SHARDNUMSUB");
}

TEST(Acquire, SendsHowItIsPublishedIfThoseWhoListenAreToHearThatItIsBusy) {
  const LockNames name = names("orders");
  const auto sent = [&](Publish how) {
    return lock::acquire({.names = {&name, 1},
                          .owner = kOwner,
                          .lease = 30s,
                          .count_listeners = true,
                          .publish = how,
                          .publish_busy = true})
        .args;
  };
  EXPECT_THAT(sent(Publish::publish),
              ElementsAre("1", "orders", "30000", kOwner.text, name.channel, "NUMSUB", "publish"));
  EXPECT_THAT(sent(Publish::spublish),
              ElementsAre("1", "orders", "30000", kOwner.text, name.channel, "SHARDNUMSUB", "spublish"));
  EXPECT_THAT(sent(Publish::both),
              ElementsAre("1", "orders", "30000", kOwner.text, name.channel, "SHARDNUMSUB", "both"));
}

TEST(Acquire, SendsTheLongestLeaseInPlainDecimal) {
  EXPECT_EQ(acquire(names("n"), kOwner, 315'569'520'000ms).args.at(2), "315569520000");
}

TEST(Acquire, SendsANameWithAnyBytesUnchanged) {
  const std::string name = "a b\n\0{\xff"s;
  EXPECT_EQ(acquire(names(name), kOwner, 1s).args.at(1), name);
}

TEST(AcquireReply, IsGrantedWhenItIsNull) {
  const AcquireReply reply = decode_acquire(null());
  EXPECT_TRUE(reply.granted);
  EXPECT_EQ(reply.busy_for, std::nullopt);
}

TEST(AcquireReply, IsBusyForTheTimeThatItTells) {
  for (const std::int64_t left : {-1LL, 0LL, 1LL, 29'999LL, 9'000'000'000'000LL}) {
    const AcquireReply reply = decode_acquire(integer(left));
    EXPECT_FALSE(reply.granted);
    EXPECT_EQ(reply.busy_for, std::chrono::milliseconds(left));
  }
}

TEST(AcquireReply, TellsHowManyListen) {
  const AcquireReply reply = decode_acquire(array({integer(1), integer(29'999), integer(5)}));
  EXPECT_EQ(reply.busy_for, std::chrono::milliseconds(29'999));
  EXPECT_EQ(reply.blocker, 0U);
  EXPECT_EQ(reply.listeners, 5);
  EXPECT_EQ(reply.holder, "") << "not everybody may ask";
  EXPECT_EQ(decode_acquire(integer(1)).listeners, std::nullopt);
}

TEST(AcquireReply, TellsOfNoMoreListenersThanAServerCanHave) {
  // What Valkey 9.1.2 says of eight.
  EXPECT_EQ(decode_acquire(array({integer(1), integer(29'999), integer(140'241'013'626'887)})).listeners, -1);
  EXPECT_EQ(decode_acquire(array({integer(1), integer(29'999), integer(100'000)})).listeners, 100'000);
}

TEST(AcquireReply, TellsWhoHasIt) {
  const AcquireReply reply = decode_acquire(array({integer(1), integer(29'999), integer(5), text(kOwner.text)}));
  EXPECT_EQ(reply.listeners, 5);
  EXPECT_EQ(reply.holder, kOwner.text);
}

TEST(AcquireReply, IsNeitherGrantedNorBusyWhenItMakesNoSense) {
  for (const Reply& odd : odd_replies()) {
    const AcquireReply reply = decode_acquire(odd);
    EXPECT_FALSE(reply.granted);
    EXPECT_EQ(reply.busy_for, std::nullopt);
  }
}

TEST(Release, SendsTheKeyTheOwnerAndTheChannel) {
  const Command command = release(names("orders"), kOwner);
  EXPECT_EQ(command.script, &scripts::lock_release);
  EXPECT_THAT(command.args, ElementsAre("1", "orders", kOwner.text, "redisson_lock__channel:{orders}"));
}

TEST(Release, NamesTheWayInWhichItIsToldUnlessThatIsPublish) {
  const std::vector<LockNames> two{names("orders"), names("{orders}:2")};
  for (const auto& [how, word] : {std::pair(Publish::spublish, "spublish"), std::pair(Publish::both, "both"),
                                  std::pair(Publish::automatic, "both")}) {
    EXPECT_THAT(lock::release({.names = {two.data(), 1}, .owner = kOwner, .publish = how}).args,
                ElementsAre("1", "orders", kOwner.text, two[0].channel, word));
    EXPECT_THAT(lock::release({.names = two, .owner = kOwner, .publish = how}).args,
                ElementsAre("2", "orders", "{orders}:2", kOwner.text, two[0].channel, two[1].channel, word));
    EXPECT_THAT(force_release(two[0], {}, how).args, ElementsAre("1", "orders", two[0].channel, word));
  }
}

TEST(ReleaseReply, IsTrueForOneOnly) {
  EXPECT_EQ(decode_release(integer(0)), 0);
  EXPECT_EQ(decode_release(integer(3)), 3);
  EXPECT_FALSE(decode_release(null()));
  EXPECT_FALSE(decode_release(integer(-1)));
  for (const Reply& odd : odd_replies()) EXPECT_FALSE(decode_release(odd));
}

TEST(ForceRelease, SendsTheKeyAndTheChannel) {
  const Command command = force_release(names("{t}x"));
  EXPECT_EQ(command.script, &scripts::lock_force_release);
  EXPECT_THAT(command.args, ElementsAre("1", "{t}x", "redisson_lock__channel:{t}x", "publish"));
}

TEST(ForceRelease, SendsTheOwnerThatIsNamedEvenIfItIsEmpty) {
  EXPECT_THAT(force_release(names("n"), kOwner, Publish::both).args,
              ElementsAre("1", "n", "redisson_lock__channel:{n}", "both", kOwner.text));
  EXPECT_THAT(force_release(names("n"), Owner{}, Publish::spublish).args,
              ElementsAre("1", "n", "redisson_lock__channel:{n}", "spublish", ""));
}

TEST(Renew, SendsAllKeysFirstAndThenTheLeaseAndTheOwnerOfEach) {
  const std::vector<Renewal> renewals{{"a", "owner:1"}, {"b", "owner:2"}, {"a", "owner:3"}};
  const Command command = renew(renewals, 30s);
  EXPECT_EQ(command.script, &scripts::lock_renew);
  EXPECT_THAT(command.args, ElementsAre("3", "a", "b", "a", "30000", "owner:1", "owner:2", "owner:3"));
}

TEST(Renew, OfNothingNamesNoKeys) { EXPECT_THAT(renew({}, 30s).args, ElementsAre("0", "30000")); }

TEST(RenewReply, NamesThoseThatWereNotExtended) {
  EXPECT_THAT(decode_renew(array({integer(2)}), 3), ElementsAre(true, false, true));
  EXPECT_THAT(decode_renew(array({}), 2), ElementsAre(true, true));
  EXPECT_THAT(decode_renew(array({}), 0), IsEmpty());
}

TEST(RenewReply, IsEmptyWhenItDoesNotFitTheCall) {
  EXPECT_THAT(decode_renew(array({integer(3)}), 2), IsEmpty());
  EXPECT_THAT(decode_renew(array({integer(0)}), 2), IsEmpty());
  for (const Reply& odd : {null(), text("1"), error("ERR"), array({integer(1)})}) {
    EXPECT_THAT(decode_renew(array({integer(1), odd}), 2), IsEmpty());
  }
  EXPECT_THAT(decode_renew(null(), 1), IsEmpty());
  EXPECT_THAT(decode_renew(integer(1), 1), IsEmpty());
  EXPECT_THAT(decode_renew(error("OOM command not allowed"), 1), IsEmpty());
}

TEST(UntoldRenewal, IsATransactionThatReadsItsKeysWhenItIsToldOfChangesAgain) {
  std::vector<Command> commands;
  add_untold(commands, renew({{"a", "owner:1"}}, 30s), {"a", "b"});
  ASSERT_EQ(commands.size(), kUntoldCommands);
  EXPECT_THAT(commands[0].args, ElementsAre("MULTI"));
  EXPECT_THAT(commands[1].args, ElementsAre("CLIENT", "TRACKING", "OFF"));
  EXPECT_EQ(commands[2].script, &scripts::lock_renew);
  EXPECT_THAT(commands[3].args, ElementsAre("CLIENT", "TRACKING", "ON"));
  EXPECT_THAT(commands[4].args, ElementsAre("EXISTS", "a", "b"));
  EXPECT_THAT(commands[5].args, ElementsAre("EXEC"));
}

TEST(UntoldRenewal, IsAnsweredAsItsSecondStepIs) {
  const Reply queued = text("QUEUED");
  std::vector<Reply> replies{text("OK"), queued, queued, queued, queued};
  replies.push_back(array({text("OK"), array({integer(2)}), text("OK"), integer(1)}));
  const Reply* const reply = untold_reply(replies);
  ASSERT_NE(reply, nullptr);
  EXPECT_THAT(decode_renew(*reply, 2), ElementsAre(true, false));
  replies.back() = error("EXECABORT Transaction discarded because of previous errors.");
  EXPECT_EQ(untold_reply(replies), nullptr);
  replies.back() = array({text("OK"), array({}), text("OK")});
  EXPECT_EQ(untold_reply(replies), nullptr);
}

TEST(UntoldRenewal, IsTriedWithoutARenewal) {
  std::vector<Command> commands;
  add_untold_trial(commands);
  EXPECT_EQ(commands.size(), kUntoldTrial);
  const std::vector<Reply> replies{text("OK"), text("QUEUED"), text("QUEUED"), array({text("OK"), text("OK")})};
  EXPECT_NE(untold_reply(replies), nullptr);
}

TEST(Holder, IsReadAsOwnerAndCount) {
  const Held held = decode_holder(array({text(kOwner.text), text("3")}));
  EXPECT_EQ(held.owner, kOwner.text);
  EXPECT_EQ(held.count, 3);
}

TEST(Holder, IsNobodyWhenTheKeyIsAbsentOrTheReplyIsOdd) {
  for (const Reply& odd : odd_replies()) {
    const Held held = decode_holder(odd);
    EXPECT_EQ(held.owner, "");
    EXPECT_EQ(held.count, 0);
  }
  EXPECT_EQ(decode_holder(null()).owner, "");
}

TEST(Holder, IsNobodyWhereTheFieldIsNoOwnerOrTheValueNoCount) {
  for (const Reply& odd : {text("hash"), text("0"), text("-1"), text("1x"), text(""), null()}) {
    EXPECT_EQ(decode_holder(array({text(kOwner.text), odd})).owner, "");
  }
  EXPECT_EQ(decode_holder(array({text("colour"), text("1")})).owner, "");
  EXPECT_EQ(decode_holder(array({text(kOwner.text), text("1"), text("mode"), text("read")})).owner, "");
}

TEST(Queries, ArePlainCommandsOfTheirKey) {
  const auto is_plain = [](const Command& command) { return command.script == nullptr; };
  EXPECT_TRUE(is_plain(fields("n")) && is_plain(remaining("n")) && is_plain(count_fields("n")));
  EXPECT_TRUE(is_plain(has_owner("n", Owner{"o"})) && is_plain(scan("0", "*", 1)));
  EXPECT_THAT(fields("n\0m"s).args, ElementsAre("HGETALL", "n\0m"s));
  EXPECT_THAT(remaining("n").args, ElementsAre("PTTL", "n"));
  EXPECT_THAT(count_fields("n").args, ElementsAre("HLEN", "n"));
  EXPECT_THAT(has_owner("n", kOwner).args, ElementsAre("HEXISTS", "n", kOwner.text));
}

TEST(Queries, AskForTheHolderByAScript) {
  EXPECT_EQ(holder("n").script, &scripts::lock_look);
  EXPECT_THAT(holder("n\0m"s).args, ElementsAre("1", "n\0m"s));
}

TEST(Queries, TakeAPrefixAtItsWord) {
  EXPECT_EQ(literal_pattern("app:"), "app:");
  EXPECT_EQ(literal_pattern("app[1]:"), "app\\[1\\]:");
  EXPECT_EQ(literal_pattern("a*b?c\\^-"), "a\\*b\\?c\\\\\\^\\-");
}

TEST(Queries, ScanHashesInSteps) {
  EXPECT_THAT(scan("17", "app:*", 500).args,
              ElementsAre("SCAN", "17", "MATCH", "app:*", "COUNT", "500", "TYPE", "hash"));
}

}  // namespace
}  // namespace holdfast::wire::lock::lock_calls_test
