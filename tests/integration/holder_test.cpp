// SPDX-License-Identifier: Apache-2.0
// Who holds a lock: what the holder's connection says of itself, as another client reads it from a real server.
#include <array>
#include <unistd.h>

#include "access.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::holder_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Connection = Holder::Connection;
using Kind = Holder::Kind;

const std::string kOfRedisson = "99999999-2222-4333-8444-555555555555:57";

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

class WhoHolds : public Faults {
 protected:
  WhoHolds() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  Config labelled(const std::string& label) const {
    Config its = config();
    its.label = label;
    return its;
  }
  Holder holder(const KeyLock& lock) { return lock.info().holder.value_or(Holder{}); }

  Client looker{config()};
};

TEST_F(WhoHolds, ALockIsKnownByHostProcessLabelAndAddress) {
  Client client(labelled("nightly run\n"));
  const Hold hold = client.lock("orders").acquire();
  const LockInfo info = looker.lock("orders").info();
  ASSERT_TRUE(info.holder);
  EXPECT_EQ(info.owner, hold.owner());
  EXPECT_EQ(info.holder->kind, Kind::holdfast);
  EXPECT_EQ(info.holder->connection, Connection::open);
  EXPECT_EQ(info.holder->host, host_name());
  EXPECT_EQ(info.holder->process, getpid());
  EXPECT_EQ(info.holder->label, "nightly run\n");
  EXPECT_THAT(info.holder->address, testing::StartsWith("127.0.0.1:"));
  EXPECT_LT(info.holder->connected_for, 30s);
}

TEST_F(WhoHolds, ASimpleLockIsKnownToo) {
  Client client(labelled("reindex"));
  const Hold hold = client.simple_lock("orders").acquire();
  EXPECT_EQ(holder(looker.simple_lock("orders")).label, "reindex");
}

TEST_F(WhoHolds, WithoutALabelTheProgramIsNamed) {
  Client client(config());
  const Hold hold = client.lock("orders").acquire();
  EXPECT_EQ(holder(looker.lock("orders")).label, "integration_tests");
}

TEST_F(WhoHolds, AFreeLockHasNoHolderAndNobodyIsAskedAbout) {
  EXPECT_FALSE(looker.lock("orders").info().holder);
  EXPECT_EQ(raw.calls("client|list"), 0);
}

TEST_F(WhoHolds, WhoAsksForTheOwnerOnlyCausesNoListOfConnections) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 Redis does not count subcommands";
  Client client(config());
  const Hold hold = client.lock("orders").acquire();
  const LockInfo info = looker.lock("orders").info(InfoDetail::owner);
  EXPECT_EQ(info.owner, hold.owner());
  EXPECT_FALSE(info.holder);
  EXPECT_FALSE(looker.list("*", InfoDetail::owner).front().holder);
  EXPECT_EQ(raw.calls("client|list"), 0);
  EXPECT_EQ(looker.lock("orders").info(InfoDetail::holder_if_cheap).holder.value_or(Holder{}).process, getpid());
  EXPECT_EQ(raw.calls("client|list"), 1);
}

TEST_F(WhoHolds, AListAsksOnceForAllLocks) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 Redis does not count subcommands";
  Client first(labelled("first"));
  Client second(labelled("second"));
  std::vector<Hold> holds;
  for (int i = 0; i < 20; ++i) {
    holds.push_back(first.lock("a" + std::to_string(i)).acquire());
    holds.push_back(second.lock("b" + std::to_string(i)).acquire());
  }
  const std::vector<LockInfo> locks = looker.list();
  ASSERT_EQ(locks.size(), 40U);
  for (const LockInfo& lock : locks) {
    EXPECT_EQ(lock.holder.value_or(Holder{}).label, lock.name.starts_with('a') ? "first" : "second") << lock.name;
  }
  EXPECT_EQ(raw.calls("client|list"), 1);
}

TEST_F(WhoHolds, AHolderThatIsGoneHasNoConnection) {
  Config its = config();
  its.on_close = OnClose::leave_to_expire;
  its.lease = 60s;
  {
    Client client(its);
    const Hold hold = client.lock("orders").acquire();
    client.close();
  }
  const Holder gone = holder(looker.lock("orders"));
  EXPECT_EQ(gone.kind, Kind::holdfast);
  EXPECT_EQ(gone.connection, Connection::none);
}

TEST_F(WhoHolds, RedissonAndOthersAreNotCalledDead) {
  put_held_lock(raw, "orders", kOfRedisson);
  EXPECT_EQ(holder(looker.lock("orders")).kind, Kind::redisson);
  EXPECT_EQ(holder(looker.lock("orders")).connection, Connection::unknown);
  raw.command("SET", "token", "6f5902ac237024bdd0c176cb93063dc4", "PX", 60'000);
  EXPECT_EQ(holder(looker.simple_lock("token")).kind, Kind::other);
  EXPECT_EQ(holder(looker.simple_lock("token")).connection, Connection::unknown);
}

TEST_F(WhoHolds, ANameOfOnesOwnStandsInFront) {
  Config its = labelled("l");
  its.client_name = "billing:worker";
  Client client(its);
  const Hold hold = client.lock("orders").acquire();
  EXPECT_THAT(raw.command("CLIENT", "LIST").text, HasSubstr(" name=billing:worker:" + client.id() + ":"));
  EXPECT_EQ(holder(looker.lock("orders")).label, "l");
}

TEST_F(WhoHolds, AClientWithoutANameTellsNothingAndIsNotCalledDead) {
  Config its = config();
  its.client_name.clear();
  Client client(its);
  const Hold hold = client.lock("orders").acquire();
  EXPECT_THAT(raw.command("CLIENT", "LIST").text, Not(HasSubstr(client.id())));
  EXPECT_EQ(holder(looker.lock("orders")).connection, Connection::unknown);
}

TEST_F(WhoHolds, NamesOfStrangersAreNotTakenForTheHolders) {
  Client client(labelled("mine"));
  const Hold hold = client.lock("orders").acquire();
  std::vector<Raw> strangers;
  for (const std::string& name : {"holdfast:" + client.id(), client.id(), "holdfast:" + client.id() + ":host:pid:label",
                                  std::string("::::"), "holdfast:" + client.id() + ":%1b:1:%", "name=" + client.id()}) {
    strangers.emplace_back(server);
    ASSERT_FALSE(strangers.back().command("CLIENT", "SETNAME", name).is_error()) << name;
  }
  EXPECT_EQ(holder(looker.lock("orders")).label, "mine");
}

TEST_F(WhoHolds, AfterAReconnectTheNewConnectionIsShown) {
  Client client(labelled("mine"));
  const Hold hold = client.lock("orders").acquire();
  const std::string before = holder(looker.lock("orders")).address;
  ASSERT_EQ(raw.command("CLIENT", "KILL", "ADDR", before).integer, 1) << before;
  ASSERT_TRUE(eventually([&] { return client.counters().connections == 2; }));
  const Holder after = holder(looker.lock("orders"));
  EXPECT_EQ(after.label, "mine");
  EXPECT_NE(after.address, before);
}

class WhoMayAsk : public Access {};

TEST_F(WhoMayAsk, WithoutPermissionForTheListTheRestIsTold) {
  grant(kRights, {"-client|list"});
  Client client(as_app());
  const Hold hold = client.lock("app:orders").acquire();
  for (const InfoDetail detail : {InfoDetail::holder, InfoDetail::holder_if_cheap}) {
    const LockInfo info = client.lock("app:orders").info(detail);
    EXPECT_EQ(info.owner, hold.owner());
    EXPECT_EQ(info.holder.value_or(Holder{}).kind, Kind::holdfast);
    EXPECT_EQ(info.holder.value_or(Holder{}).connection, Connection::unknown);
  }
  EXPECT_EQ(client.list("app:*").front().owner, hold.owner());
  grant(kRights, {"-info"});
  EXPECT_EQ(client.lock("app:orders").info(InfoDetail::holder_if_cheap).holder.value_or(Holder{}).connection,
            Connection::unknown);
  EXPECT_EQ(client.lock("app:orders").info().holder.value_or(Holder{}).process, getpid());
}

}  // namespace
}  // namespace holdfast::test::holder_test
