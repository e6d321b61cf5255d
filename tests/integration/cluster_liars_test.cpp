// SPDX-License-Identifier: Apache-2.0
// Nodes of a cluster that do not tell the truth, alone and among good ones.
#include <algorithm>

#include "cluster.hpp"
#include "support/made_up_node.hpp"
#include "support/stranger.hpp"

namespace holdfast::test::cluster_liars_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// What a node says of the map; `itself` and `dead` are ports.
struct Lie {
  const char* name;
  std::string (*slots)(int itself, int dead);
  const char* told;  ///< What the error of a client says who has nobody else to ask.
};
void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.name; }

std::string hundred_thousand_ranges(int itself) {
  std::vector<std::string> ranges;
  for (int i = 0; i < 100'000; ++i) ranges.push_back(as_range(i % 16384, i % 16384, "127.0.0.1", itself));
  return as_array(ranges);
}

const Lie kLies[] = {
    {"ItsSlotsAreNone", [](int, int) { return as_array({}); }, "it knows of no slots that are served"},
    {"AllIsAtADeadPort", [](int, int dead) { return as_array({as_range(0, 16383, "127.0.0.1", dead)}); },
     "Connection refused"},
    {"Garbage", [](int, int) { return as_array({as_bulk("slots"), as_number(-7)}); }, "its answer makes no sense"},
    {"SlotsBeyondAll", [](int itself, int) { return as_array({as_range(0, 99999, "127.0.0.1", itself)}); },
     "its answer makes no sense"},
    {"AHundredThousandRanges", [](int itself, int) { return hundred_thousand_ranges(itself); }, ""},
    {"NobodyIsKnownByName", [](int, int) { return as_array({as_range(0, 16383, "?", 0)}); },
     "it knows of no slots that are served"},
    {"NoAnswer", [](int, int) { return std::string(); },
     "cannot reach the server: no "},  // node knows the slots, or there is no primary yet
    {"NoCluster", [](int, int) { return std::string("-ERR This instance has cluster support disabled\r\n"); },
     "cluster support disabled"},
    {"NoPermission", [](int, int) { return std::string("-NOPERM this user has no permissions\r\n"); }, "NOPERM"},
};

class Liar : public testing::TestWithParam<Lie> {
 protected:
  Config config(const std::string& url) const {
    Config made = quick_config(url);
    made.timing.connect_timeout = 1s;
    made.observer = log;
    return made;
  }
  std::string answer(const MadeUpNode::Command& command) const {
    if (command.front() == "CLUSTER") return GetParam().slots(liar.port(), dead.port());
    if (command.front() == "PUBSUB") return as_array({});
    return "-CLUSTERDOWN The cluster is down\r\n";
  }

  const PortLease dead;
  const std::shared_ptr<EventLog> log = std::make_shared<EventLog>();
  MadeUpNode liar{[this](const MadeUpNode::Command& command) { return answer(command); }};
};
INSTANTIATE_TEST_SUITE_P(Says, Liar, testing::ValuesIn(kLies),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(Liar, AloneMakesCallsFailWithinTheirLimits) {
  Config settings = config("redis+cluster://" + liar.address());
  settings.timing.command_timeout = 500ms;
  settings.timing.patience = 2s;
  Client client(settings);
  Lock lock = client.lock("orders");
  std::optional<Error> error;
  EXPECT_LT(duration_of([&] { error = error_of([&] { return lock.acquire({.wait = 3s}); }); }), 15s);
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr(GetParam().told));
  EXPECT_THAT(error->node(), HasSubstr(liar.address()));
  EXPECT_LT(duration_of([&] { error = error_of([&] { return lock.try_acquire(); }); }), 15s);
  EXPECT_TRUE(error);
  EXPECT_LT(liar.heard("CLUSTER"), 100U) << "it is not stormed";
  EXPECT_LT(duration_of([&] { client.close(); }), 15s);
}

TEST_P(Liar, AmongGoodOnesDoesNoHarm) {
  Cluster cluster({.replicas = 0});
  for (int i = 0; i < 6; ++i) {
    Config settings = config(cluster.url_at(liar.address() + "," + Cluster::address(cluster.node(1))));
    settings.timing.command_timeout = 10s;
    settings.timing.patience = 30s;
    Client client(settings);
    const std::string name = "orders:" + std::to_string(i);
    Hold hold = client.lock(name).acquire();
    EXPECT_TRUE(Raw(cluster.primary_of(name)).exists(name));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  }
}

/// Each says that the other serves all slots.
class Circle : public testing::Test {
 protected:
  std::string answer(const MadeUpNode::Command& command, const MadeUpNode& next) const {
    if (command.front() == "CLUSTER") return as_array({as_range(0, 16383, "127.0.0.1", next.port())});
    if (command.front() == "PUBSUB") return as_array({});
    if (command.front() == "EVALSHA" || command.front() == "EVAL") {
      return "-MOVED 0 " + next.address() + "\r\n";
    }
    return "+OK\r\n";
  }
  std::size_t attempts() const {
    std::size_t count = 0;
    for (const MadeUpNode* each : {&one, &other}) count += each->heard("EVALSHA") + each->heard("EVAL");
    return count;
  }
  Config config() const { return quick_config("redis+cluster://" + one.address() + "," + other.address()); }

  MadeUpNode one{[this](const MadeUpNode::Command& command) { return answer(command, other); }};
  MadeUpNode other{[this](const MadeUpNode::Command& command) { return answer(command, one); }};
};

TEST_F(Circle, EndsWithinTheLimitAndStormsNobody) {
  Config settings = config();
  settings.timing.patience = 2s;
  Client client(settings);
  std::optional<Error> error;
  const auto took = duration_of([&] { error = error_of([&] { return client.lock("orders").acquire({.wait = 4s}); }); });
  EXPECT_LT(took, 15s);
  ASSERT_TRUE(error);
  EXPECT_LT(attempts(), 200U);
}

TEST_F(Circle, IsLeftByClosing) {
  Client client(config());
  auto waiting =
      in_thread([lock = client.lock("orders")]() mutable { return error_of([&] { return lock.acquire(); }); });
  EXPECT_TRUE(eventually([&] { return attempts() >= 5; }));
  EXPECT_LT(duration_of([&] { client.close(); }), 10s);
  ASSERT_TRUE(ready(waiting));
  EXPECT_EQ(waiting.get()->code(), Errc::closed);
}

}  // namespace
}  // namespace holdfast::test::cluster_liars_test
