// SPDX-License-Identifier: Apache-2.0
// The tool, where Sentinels name the primary.
#include "cli_fixture.hpp"
#include "support/deployment.hpp"

namespace holdfast::test::sentinel_test {
namespace {

using testing::HasSubstr;

class ToolWithSentinels : public CliTest {
 protected:
  Outcome use_with(const std::string& url, std::vector<std::string> args) {
    args.insert(args.begin() + 1, {"--url", url});
    return use(std::move(args));
  }

  Deployment deployment;
};

TEST_F(ToolWithSentinels, TakesTheLockAtThePrimary) {
  const Outcome run = use_with(deployment.url(), {"run", "backup", "--", "/bin/sh", "-c", "exit 3"});
  EXPECT_EQ(run.status, exited(3)) << run.err;
  EXPECT_EQ(use_with(deployment.url() + "?acks=all", {"run", "backup", "--", "/bin/true"}).status, exited(0));
  EXPECT_EQ(Raw(deployment.primary()).command("EXISTS", "backup").integer, 0);
}

TEST_F(ToolWithSentinels, NamesThoseThatKnowNoPrimary) {
  const std::string url = deployment.url_at(Deployment::address(deployment.sentinel(0)));
  const std::string unknown = url.substr(0, url.rfind('/')) + "/nobody";
  const Outcome ls = use_with(unknown, {"ls"});
  EXPECT_EQ(ls.status, exited(69));
  EXPECT_THAT(ls.err, HasSubstr(Deployment::address(deployment.sentinel(0)) + ": it knows no primary of this name"));
}

TEST_F(ToolWithSentinels, LooksAtThemAllAsADoctor) {
  const Outcome doctor = use_with(deployment.url(), {"doctor", "--json"});
  for (std::size_t i = 0; i < deployment.sentinels(); ++i) {
    EXPECT_THAT(doctor.out, HasSubstr(Deployment::address(deployment.sentinel(i))));
  }
  for (std::size_t i = 0; i < deployment.servers(); ++i) {
    EXPECT_THAT(doctor.out, HasSubstr(Deployment::address(deployment.server(i))));
  }
}

TEST_F(ToolWithSentinels, PointsOutAUrlThatIsForAServer) {
  const Outcome run =
      use_with("redis://" + Deployment::address(deployment.sentinel(0)), {"run", "backup", "--", "/bin/true"});
  EXPECT_EQ(run.status, exited(69)) << run.err;
  EXPECT_THAT(run.err, HasSubstr("if this is one, its URL begins with redis+sentinel://"));
}

TEST_F(ToolWithSentinels, WatchesTheNextPrimaryToo) {
  RedisServer& old = deployment.primary();
  Raw(old).command("HSET", "before", kSomebody, 1);
  Process watch = start({"watch", "--url", deployment.url()});
  EXPECT_THAT(watch.read_line().value_or(""), HasSubstr("before")) << watch.errors();
  old.kill();
  deployment.wait_for_failover_from(old);
  RedisServer& next = deployment.primary();
  Raw(next).command("HSET", "after", kSomebody, 1);
  std::string line = watch.read_line().value_or("");
  while (!line.empty() && line.find("after") == std::string::npos) line = watch.read_line().value_or("");
  EXPECT_THAT(line, HasSubstr("taken")) << watch.errors();
  // From then on it is told again.
  EXPECT_TRUE(eventually([&] { return watch.errors().find("connection lost; looked again") != std::string::npos; }));
  for (int i = 0; i < 100 && (line.empty() || line.find("seen late") != std::string::npos); ++i) {
    Raw(next).command("HSET", "later:" + std::to_string(i), kSomebody, 1);
    line = watch.read_line().value_or("");
  }
  EXPECT_EQ(line.find("seen late"), std::string::npos) << line;
  watch.signal(SIGTERM);
  EXPECT_EQ(watch.finish(), exited(0));
}

TEST_F(ToolWithSentinels, CallsAKilledPrimaryAReplicaThatIsDown) {
  RedisServer& old = deployment.primary();
  old.kill();
  deployment.wait_for_failover_from(old);
  // The Sentinels need a moment more until they all list it among the replicas.
  const auto findings = [&] { return use_with(deployment.url(), {"doctor", "--json"}).out; };
  std::string said;
  EXPECT_TRUE(eventually([&] {
    said = findings();
    return said.find("a replica is down: " + Deployment::address(old)) != std::string::npos;
  })) << said;
}

}  // namespace
}  // namespace holdfast::test::sentinel_test
