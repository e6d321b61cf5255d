// SPDX-License-Identifier: Apache-2.0
// From an owner and a list of connections to words about a holder.
#include "lock/queue/holder.hpp"

#include <gtest/gtest.h>

namespace holdfast::engine::holder_test {
namespace {

using namespace std::chrono_literals;
using Connection = Holder::Connection;
using Kind = Holder::Kind;

const std::string kNamed = "376fe4aa-10ea-8e60-b8ed-a49082e92014";
const std::string kRedisson = "376fe4aa-10ea-4e60-b8ed-a49082e92014";

const wire::Connections kNobody;
const wire::Connections kConnections{{kNamed, {{kNamed, "web-3", 812, "nightly"}, "10.0.0.7:53412", 14s}}};

TEST(HolderOf, ANamedClientIsWhoItsConnectionSays) {
  const Holder holder = holder_of(kNamed + ":3", &kConnections);
  EXPECT_EQ(holder.kind, Kind::holdfast);
  EXPECT_EQ(holder.connection, Connection::open);
  EXPECT_EQ(to_string(holder), "web-3, process 812, label nightly");
  EXPECT_EQ(holder.address, "10.0.0.7:53412");
  EXPECT_EQ(holder.connected_for, 14s);
}

TEST(HolderOf, ANamedClientWithoutAConnectionMayBeDead) {
  const Holder holder = holder_of(kNamed + ":3", &kNobody);
  EXPECT_EQ(holder.connection, Connection::none);
  EXPECT_EQ(to_string(holder), "a Holdfast client without a connection (a ticket, --at-least, cut off, or dead)");
}

TEST(HolderOf, NobodyIsCalledDeadWhereTheServerDoesNotTell) {
  const Holder holder = holder_of(kNamed + ":3", nullptr);
  EXPECT_EQ(holder.kind, Kind::holdfast);
  EXPECT_EQ(holder.connection, Connection::unknown);
  EXPECT_EQ(to_string(holder), "a Holdfast client, no name known");
}

TEST(HolderOf, RedissonIsNotCalledDeadForHavingNoName) {
  const Holder holder = holder_of(kRedisson + ":57", &kConnections);
  EXPECT_EQ(holder.kind, Kind::redisson);
  EXPECT_EQ(holder.connection, Connection::unknown);
  EXPECT_EQ(to_string(holder), "a Redisson (or other) client, no name known");
}

TEST(HolderOf, APermitIsOfTheClientWhoseUuidItBeginsWith) {
  const Holder holder = holder_of("376fe4aa10ea8e60b8eda49082e92014,376fe4aa10ea8e60b8eda49082e92015", &kConnections);
  EXPECT_EQ(holder.kind, Kind::holdfast);
  EXPECT_EQ(to_string(holder), "web-3, process 812, label nightly");
  EXPECT_EQ(holder_of("376fe4aa10ea8e60b8eda49082e92014", &kNobody).connection, Connection::unknown);
}

TEST(HolderOf, ATokenOfAnotherFamilyIsOfAnotherLibrary) {
  for (const char* owner : {"token", "", "3f1b:7", "376fe4aa10ea4e60b8eda49082e92014"}) {
    const Holder holder = holder_of(owner, &kConnections);
    EXPECT_EQ(holder.kind, Kind::other) << owner;
    EXPECT_EQ(holder.connection, Connection::unknown) << owner;
    EXPECT_EQ(to_string(holder), "a client of another library, no name known");
  }
}

TEST(HolderInWords, CannotMoveTheCursorOrPretendToBeMore) {
  Holder holder;
  holder.connection = Connection::open;
  holder.host = "\x1b[2Jh";
  holder.process = 1;
  holder.label = "x, process 9";
  EXPECT_EQ(to_string(holder), R"("\x1b[2Jh", process 1, label "x, process 9")");
  holder.label = "a\nb";
  holder.host = "";
  EXPECT_EQ(to_string(holder), R"("", process 1, label "a\nb")");
}

}  // namespace
}  // namespace holdfast::engine::holder_test
