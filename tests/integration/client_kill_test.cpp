// SPDX-License-Identifier: Apache-2.0
// Connections that the server ends (CLIENT KILL, in all its forms) while a client is idle, waits, or renews a hold.
#include <sstream>

#include "faults.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::client_kill_test {
namespace {

using testing::SizeIs;

/// A way to end all connections of the client `holdfast`; returns how many were ended.
struct Kill {
  std::string label;
  std::function<long long(Raw&)> now;
};
void PrintTo(const Kill& kill, std::ostream* out) { *out << kill.label; }

/// The value of a field in a client's line of CLIENT LIST: of the one with this id, or of the only one there is.
std::string client_field(Raw& raw, const std::string& field, const std::string& client = {}) {
  std::istringstream lines(raw.command("CLIENT", "LIST").text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" name=holdfast:" + client) == std::string::npos) continue;
    const std::size_t begin = (" " + line).find(" " + field + "=") + field.size() + 1;
    return line.substr(begin, line.find(' ', begin) - begin);
  }
  return {};
}

const Kill kKills[] = {
    {"ById", [](Raw& raw) { return raw.command("CLIENT", "KILL", "ID", client_field(raw, "id")).integer; }},
    {"ByAddress", [](Raw& raw) { return raw.command("CLIENT", "KILL", "ADDR", client_field(raw, "addr")).integer; }},
    {"ByUser", [](Raw& raw) { return raw.command("CLIENT", "KILL", "USER", "default").integer; }},
    {"ByType",
     [](Raw& raw) {
       return raw.command("CLIENT", "KILL", "TYPE", "normal").integer +
              raw.command("CLIENT", "KILL", "TYPE", "pubsub").integer;
     }},
};
std::string label_of(const testing::TestParamInfo<Kill>& info) { return info.param.label; }

class Killed : public Faults, public testing::WithParamInterface<Kill> {
 protected:
  Killed() : Faults({.listen = ServerOptions::Listen::tcp}), client(config()) { client.ping(); }

  bool kill() { return GetParam().now(raw) == 1; }

  Client client;
};
INSTANTIATE_TEST_SUITE_P(Connection, Killed, testing::ValuesIn(kKills), label_of);

TEST_P(Killed, WhileIdleCostsNothing) {
  for (std::uint64_t i = 2; i <= 4; ++i) {
    ASSERT_TRUE(kill());
    EXPECT_TRUE(eventually([&] { return client.counters().connections == i; }));
    Hold hold = client.lock("orders").acquire();
    EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  }
  EXPECT_THAT(log->details("down"), SizeIs(3));
  EXPECT_EQ(client.counters().unknown, 0U);
}

TEST_P(Killed, WhileWaitingSubscribesAgainAndIsWoken) {
  put_held_lock(raw, "orders");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(listeners(raw, "orders"));
    ASSERT_TRUE(kill());
  }
  ASSERT_TRUE(listeners(raw, "orders"));
  EXPECT_FALSE(ready(waiting, 50ms));
  raw.command("DEL", "orders");
  raw.command("PUBLISH", channel_of("orders"), "0");
  ASSERT_TRUE(ready(waiting));
  const Hold hold = waiting.get();
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
  EXPECT_EQ(client.counters().safety_polls, 0U);
}

TEST_P(Killed, WhileAHoldIsRenewedAsksAtOnceAndGoesOn) {
  Hold hold = client.lock("orders").acquire({.lease = renewed(10min)});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(kill());
    ASSERT_TRUE(eventually([&] { return client.counters().renewals >= i; })) << "long before it is due";
  }
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(client.counters().lost, 0U);
}

// --- Not killing others ---

TEST(Reconnect, AStrangerWhoHasTheIdOfOurEarlierConnectionIsLeftAlone) {
  RedisServer server({.listen = ServerOptions::Listen::tcp});
  Proxy proxy(server);
  Raw raw(server);
  // So that the server, which counts from one again after its restart, has not passed our id too early.
  for (int i = 0; i < 20; ++i) Raw(server).command("PING");
  Client client(quick_config(proxy.url()));
  client.ping();
  const long long ours = std::stoll(client_field(raw, "id", client.id()));
  proxy.refuse(true);
  server.restart(Data::lose);
  std::optional<Client> stranger;  // Holdfast as well, and about as old as our connection was
  long long its_id = 0;
  while (its_id < ours) {
    stranger.emplace(quick_config(server.url()));
    stranger->ping();
    its_id = std::stoll(client_field(raw, "id", stranger->id()));
  }
  ASSERT_EQ(its_id, ours);
  proxy.refuse(false);
  EXPECT_TRUE(eventually([&] { return client.counters().connections == 2; }));
  client.ping();
  stranger->ping();
  EXPECT_EQ(client_field(raw, "id", stranger->id()), std::to_string(ours));
  EXPECT_EQ(stranger->counters().connections, 1U) << "it had to connect again";
}

}  // namespace
}  // namespace holdfast::test::client_kill_test
