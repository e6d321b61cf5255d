// SPDX-License-Identifier: Apache-2.0
// The tool and a cluster.
#include "support/cluster.hpp"

#include "cli_fixture.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::cluster_test {
namespace {

using testing::HasSubstr;

/// The server of the suite is not used.
class ToolInCluster : public CliTest {
 protected:
  Outcome use_with(const std::string& url, std::vector<std::string> args) {
    args.insert(args.begin() + 1, {"--url", url});
    return use(std::move(args));
  }
  Outcome use_here(std::vector<std::string> args) { return use_with(cluster.url(), std::move(args)); }

  Cluster cluster;
};

TEST_F(ToolInCluster, RunsUnderALockOfAnyNode) {
  for (const std::string& name : cluster.names_on_each()) {
    const Outcome run = use_here({"run", name, "--", "/bin/sh", "-c", "exit 3"});
    EXPECT_EQ(run.status, exited(3)) << run.err;
    EXPECT_FALSE(Raw(cluster.primary_of(name)).exists(name));
  }
  EXPECT_EQ(use_with(cluster.url() + "?acks=all", {"run", "backup", "--", "/bin/true"}).status, exited(0));
}

TEST_F(ToolInCluster, SeesAndBreaksTheLocksOfAllNodes) {
  const std::vector<std::string> all = cluster.names_on_each();
  for (const std::string& name : all) {
    Raw raw(cluster.primary_of(name));
    put_held_lock(raw, name, kSomebody);
  }
  const Outcome ls = use_here({"ls"});
  EXPECT_EQ(ls.status, exited(0)) << ls.err;
  for (const std::string& name : all) {
    EXPECT_THAT(ls.out, HasSubstr(name));
    EXPECT_THAT(use_here({"inspect", name}).out, HasSubstr(kSomebody));
    EXPECT_EQ(use_here({"run", "-n", name, "--", "/bin/true"}).status, exited(1));
    const Outcome broken = use_here({"break", "-y", name});
    EXPECT_EQ(broken.status, exited(0)) << broken.err;
    EXPECT_FALSE(Raw(cluster.primary_of(name)).exists(name));
    EXPECT_EQ(use_here({"wait", name}).status, exited(0));
  }
}

TEST_F(ToolInCluster, TellsOfNoTroubleWhereThereIsNone) {
  std::vector<std::string> args{"run", "-v", "--lease", "600ms"};
  const std::vector<std::string> names = cluster.names_on_each();
  args.insert(args.end(), names.begin(), names.end());
  args.insert(args.end(), {"--", "sleep", "3"});
  const Outcome run = use_here(args);
  EXPECT_EQ(run.status, exited(0));
  EXPECT_THAT(run.err, testing::Not(HasSubstr("no connection")));
  EXPECT_THAT(run.err, testing::Not(HasSubstr("again")));
}

TEST_F(ToolInCluster, SaysOnceOfEachRenewalThatALockIsRenewed) {
  // One name: the connections to the other nodes are not needed, and nothing is said of that.
  const auto began = std::chrono::steady_clock::now();
  const Outcome run = use_here({"run", "-v", "--lease", "900ms", "backup", "--", "sleep", "2"});
  const auto lasted = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(run.status, exited(0));
  EXPECT_THAT(run.err, testing::Not(testing::AnyOf(HasSubstr("no connection"), HasSubstr("again"))));
  int renewals = 0;
  const std::string line = "lock \"backup\" renewed\n";
  for (std::size_t at = run.err.find(line); at != std::string::npos; at = run.err.find(line, at + 1)) ++renewals;
  EXPECT_GE(renewals, 1) << run.err;
  EXPECT_LE(renewals, 1 + lasted / std::chrono::milliseconds(200))
      << run.err;  // a third of the lease lies between two of them, or nearly
  EXPECT_EQ(run.err.find("renewed"), run.err.find(line) + line.find("renewed")) << run.err;
}

TEST_F(ToolInCluster, NamesNodesThatCannotBeReached) {
  const PortLease nobody;
  const std::string address = "127.0.0.1:" + std::to_string(nobody.port());
  const Outcome ls = use_with(cluster.url_at(address), {"ls"});
  EXPECT_EQ(ls.status, exited(69));
  EXPECT_THAT(ls.err, HasSubstr(address + ": Connection refused"));
}

}  // namespace
}  // namespace holdfast::test::cluster_test
