// SPDX-License-Identifier: Apache-2.0
// The model of a primary, its replicas and their Sentinels against real ones: the same things happen to both, and after
// each of them both must come to say the same.
#include "support/deployment.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kinds/lock.hpp"
#include "oracle/comparison.hpp"
#include "oracle/same.hpp"
#include "oracle/sides.hpp"
#include "sim/model/model_deployment.hpp"
#include "support/wait.hpp"

namespace holdfast::test::oracle::deployment_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

constexpr std::size_t kServers = 3, kSentinels = 3;
constexpr std::chrono::milliseconds kConverges = 60s;
const std::string kName = "orders";

/// The text at a place of a reply, and nothing where there is none.
std::string text_at(const Reply& reply, std::size_t at) {
  if (at >= reply.elements.size()) return {};
  const Reply& each = reply.elements[at];
  return each.is_integer() ? std::to_string(each.integer) : each.text;
}

/// Of a map, as a flat list.
std::string field(const Reply& map, std::string_view name) {
  for (std::size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    if (map.elements[i].text == name) return text_at(map, i + 1);
  }
  return {};
}

/// Who is asked: a server or a Sentinel, by its number.
struct Node {
  bool sentinel = false;
  std::size_t number = 0;
};

/// What can be asked, of either side.
class Side {
 public:
  Side() = default;
  virtual ~Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  virtual Reply ask(Node node, const Words& words) = 0;
  /// Where it is, as hosts and ports are written in replies.
  virtual std::string place(Node node) const = 0;

  /// A server or a Sentinel by its place.
  std::string called(const std::string& host, const std::string& port) const {
    for (const bool sentinel : {false, true}) {
      for (std::size_t i = 0; i < (sentinel ? kSentinels : kServers); ++i) {
        if (place({sentinel, i}) == host + ":" + port) return (sentinel ? "Sentinel " : "server ") + std::to_string(i);
      }
    }
    return "nobody";
  }
};

class RealSide final : public Side {
 public:
  RealSide() {
    for (std::size_t i = 0; i < kServers; ++i) raws_.push_back(std::make_unique<Raw>(all_.server(i)));
    for (std::size_t i = 0; i < kSentinels; ++i) raws_.push_back(std::make_unique<Raw>(all_.sentinel(i)));
  }
  Deployment& all() { return all_; }
  /// A server that changes its role ends its connections; then it is asked once more.
  Reply ask(Node node, const Words& words) override {
    Raw& raw = *raws_[node.sentinel ? kServers + node.number : node.number];
    std::optional<Reply> reply;
    eventually(
        [&] {
          try {
            reply = raw.send(words);
          } catch (const std::runtime_error&) {
          }
          return reply.has_value();
        },
        kConverges);
    return reply.value();
  }
  std::string place(Node node) const override {
    auto& all = const_cast<Deployment&>(all_);
    return Deployment::address(node.sentinel ? all.sentinel(node.number) : all.server(node.number));
  }

 private:
  static DeploymentOptions options() {
    DeploymentOptions options;
    options.name = kName;
    return options;
  }

  Deployment all_{options()};
  std::vector<std::unique_ptr<Raw>> raws_;
};

class ModelSide final : public Side {
 public:
  ModelSide() : all_(time_, settings()) {}
  ModelDeployment& all() { return all_; }
  /// Its replicas change their numbers: which one is chosen is nobody's promise.
  void exchange_replicas() { exchanged_ = !exchanged_; }
  /// What is due happens; a command that waits is answered later.
  Reply ask(Node node, const Words& words) override {
    time_.run_what_is_due();
    Connection& connection = connections_[{node.sentinel, counted(node)}];
    if (!connection.session || !connection.session->connected) connect(node, connection);
    this->node(node).receive(connection.session, encoded(words));
    eventually([&] { return time_.run_what_is_due(), connection.said.replies() > 0; }, kConverges);
    for (const Said& said : connection.said.take()) {
      if (!said.push) return said.what;
    }
    throw std::runtime_error("the model says nothing to " + words.front());
  }
  std::string place(Node node) const override { return to_string(const_cast<ModelSide*>(this)->node(node).place()); }

 private:
  struct Connection {
    ModelNode::SessionPtr session;
    Hearing said;
  };

  static DeploymentSettings settings() {
    DeploymentSettings settings;
    settings.name = kName;
    settings.server.likeness = likeness_of_server();
    return settings;
  }
  /// Its number in the model.
  std::size_t counted(Node node) const {
    return exchanged_ && !node.sentinel && node.number > 0 ? kServers - node.number : node.number;
  }
  ModelNode& node(Node node) {
    if (node.sentinel) return all_.sentinel(node.number);
    return all_.server(counted(node));
  }
  void connect(Node node, Connection& connection) {
    connection.said = Hearing();
    connection.session =
        this->node(node).connect([&connection](const std::string& bytes) { connection.said.add(bytes); });
    connection.session->resp3 = true;
  }

  PassingTime time_;
  ModelDeployment all_;
  bool exchanged_ = false;
  std::map<std::pair<bool, std::size_t>, Connection> connections_;
};

// ---- what both are asked, and what is compared of the answer ----

/// For errors what the library makes of them.
std::string said(const Reply& reply) {
  if (!reply.is_error())
    return reply.is_integer() ? std::to_string(reply.integer) : reply.is_null() ? "nil" : reply.text;
  return "error: " + std::string(to_string(redis::classify(reply.text).code));
}

std::string primary(Side& side, std::size_t sentinel) {
  const Reply reply = side.ask({true, sentinel}, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", kName});
  return side.called(text_at(reply, 0), text_at(reply, 1));
}

std::string others(Side& side, std::size_t sentinel) {
  Words all;
  for (const Reply& each : side.ask({true, sentinel}, {"SENTINEL", "SENTINELS", kName}).elements) {
    all.push_back(side.called(field(each, "ip"), field(each, "port")));
  }
  std::ranges::sort(all);
  std::string text;
  for (const std::string& each : all) text += each + "; ";
  return text;
}

std::string record(Side& side, std::size_t sentinel) {
  const Reply reply = side.ask({true, sentinel}, {"SENTINEL", "MASTER", kName});
  return field(reply, "name") + " at " + side.called(field(reply, "ip"), field(reply, "port")) + " with " +
         field(reply, "num-slaves");
}

std::string role(Side& side, Node node) {
  const Reply reply = side.ask(node, {"ROLE"});
  const std::string role = text_at(reply, 0);
  if (role != "slave") return role;
  return "replica of " + side.called(text_at(reply, 1), text_at(reply, 2)) + ", " + text_at(reply, 3);
}

Words acquire(const wire::LockNames& lock, const wire::Owner& owner) {
  return words_of(wire::lock::acquire({{&lock, 1}, owner, 60s}));
}

/// All that is compared after each step: what Sentinels and servers that run say, and who has the lock where.
Words view(Side& side, const std::vector<std::size_t>& servers) {
  Words all;
  for (std::size_t i = 0; i < kSentinels; ++i) {
    const std::string name = "Sentinel " + std::to_string(i);
    all.push_back(name + ": the primary is " + primary(side, i));
    all.push_back(name + ": there are " + others(side, i));
    all.push_back(name + ": " + record(side, i));
    all.push_back(name + ": " + role(side, {true, i}));
    for (const char* const what : {"GET-MASTER-ADDR-BY-NAME", "MASTER", "SENTINELS"}) {
      const Reply unknown = side.ask({true, i}, {"SENTINEL", what, "nobody"});
      all.push_back(name + ": of a stranger, " + what + ": " + (unknown.is_error() ? "error" : said(unknown)));
    }
  }
  for (const std::size_t i : servers) {
    const std::string name = "server " + std::to_string(i);
    all.push_back(name + ": " + role(side, {false, i}));
    all.push_back(name + ": " + said(side.ask({false, i}, {"HLEN", "lock"})) + " owner, " +
                  said(side.ask({false, i}, {"EXISTS", "only-here"})) + " more");
  }
  return all;
}

class DeploymentOracle : public testing::Test {
 protected:
  /// Both come to say the same, and then what one would expect of this.
  void compare(const std::string& step, const std::vector<std::size_t>& servers) {
    Words is, expected;
    const bool same = eventually(
        [&] {
          is = view(real_, servers);
          expected = view(model_, servers);
          return is == expected;
        },
        kConverges);
    if (same) return;
    for (std::size_t i = 0; i < is.size(); ++i) {
      EXPECT_EQ(is[i], expected[i]) << "after " << step << ": the real one, and the model";
    }
  }
  void compare_answers(const std::string& step, Node node, const Words& words) {
    const Reply real = real_.ask(node, words), model = model_.ask(node, words);
    EXPECT_TRUE(same(real, model)) << step << ": " << to_string(real) << ", and the model: " << to_string(model);
  }
  /// Of each side a replica leads now.
  void compare_after_failover(const std::string& step, const std::vector<std::size_t>& servers) {
    for (Side* const side : {static_cast<Side*>(&real_), static_cast<Side*>(&model_)}) {
      EXPECT_TRUE(eventually([&] { return primary(*side, 0) != "server 0"; }, kConverges)) << step;
    }
    if (primary(real_, 0) != primary(model_, 0)) model_.exchange_replicas();
    compare(step, servers);
  }
  std::size_t leader() { return primary(real_, 0) == "server 1" ? 1 : 2; }

  const wire::LockNames lock_ = wire::lock::names("lock"), free_ = wire::lock::names("free");
  const wire::Owner owner_{"9b2e5b0e-0000-8000-8000-000000000001:1"};
  const wire::Owner other_{"9b2e5b0e-0000-8000-8000-000000000002:1"};
  RealSide real_;
  ModelSide model_;
};

TEST_F(DeploymentOracle, TheModelDoesWhatTheServersDo) {
  compare("the start", {0, 1, 2});
  EXPECT_EQ(primary(real_, 0), "server 0");
  compare_answers("who takes it", {false, 0}, acquire(lock_, owner_));
  compare_answers("all have it", {false, 0}, {"WAIT", "2", "10000"});
  compare("an acquire", {0, 1, 2});
  compare_answers("a replica is not written to", {false, 1}, {"SET", "only-here", "1"});
  compare_answers("nor by a script", {false, 2}, acquire(free_, other_));

  real_.all().server(2).freeze();
  model_.all().freeze(2);
  compare_answers("while one is away", {false, 0}, acquire(lock_, owner_));
  compare_answers("one of two has it", {false, 0}, {"WAIT", "2", "300"});
  compare_answers("one has it", {false, 0}, {"WAIT", "1", "10000"});
  real_.all().server(2).thaw();
  model_.all().thaw(2);
  compare("a replica's pause", {0, 1, 2});

  real_.all().failover();
  model_.all().fail_over();
  compare_after_failover("a failover", {0, 1, 2});
  compare_answers("the old one is not written to", {false, 0}, acquire(free_, other_));
  compare_answers("and says who has it", {false, 0}, acquire(lock_, other_));
  compare_answers("the new one knows who has it", {false, leader()},
                  words_of(wire::lock::release({{&lock_, 1}, other_})));
}

/// What no replica has got is gone.
TEST_F(DeploymentOracle, TheModelForgetsWhatTheServersForget) {
  compare_answers("who takes it", {false, 0}, acquire(lock_, owner_));
  compare_answers("all have it", {false, 0}, {"WAIT", "2", "10000"});
  for (const std::size_t replica : {1U, 2U}) {
    real_.all().server(replica).freeze();
    model_.all().freeze(replica);
  }
  compare_answers("what only the primary has", {false, 0}, {"SET", "only-here", "1"});
  compare_answers("nobody has it", {false, 0}, {"WAIT", "1", "300"});
  real_.all().server(0).kill();
  model_.all().kill(0);
  for (const std::size_t replica : {1U, 2U}) {
    real_.all().server(replica).thaw();
    model_.all().thaw(replica);
  }
  compare_after_failover("the primary's end", {1, 2});
  real_.all().server(0).restart(Data::lose);
  model_.all().restart(0, ModelServer::Restored::lost);
  compare("its return", {0, 1, 2});
}

/// The control: a model that is wrong is not the same.
TEST_F(DeploymentOracle, AModelThatIsWrongIsFoundOut) {
  compare("the start", {0, 1, 2});
  model_.all().sentinel(1).claim(model_.all().server(2).place());
  EXPECT_NE(view(real_, {0, 1, 2}), view(model_, {0, 1, 2}));
  model_.all().sentinel(1).claim(model_.all().server(0).place());
  EXPECT_EQ(view(real_, {0, 1, 2}), view(model_, {0, 1, 2}));
  model_.all().cut(2, true);
  const Words write{"SET", "only-here", "1"};
  real_.ask({false, 0}, write);
  model_.ask({false, 0}, write);
  EXPECT_NE(said(real_.ask({false, 0}, {"WAIT", "2", "3000"})), said(model_.ask({false, 0}, {"WAIT", "2", "3000"})));
}

}  // namespace
}  // namespace holdfast::test::oracle::deployment_test
