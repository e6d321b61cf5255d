// SPDX-License-Identifier: Apache-2.0
// `holdfast run` with several servers: a majority of them must grant the lock, and a minority may be missing.
#include <algorithm>
#include <array>

#include <boost/json.hpp>

#include "cli_fixture.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::several_servers_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

class SeveralServers : public CliTest {
 protected:
  RedisServer& server(std::size_t i) { return servers_[i]; }
  std::size_t count() const { return servers_.size(); }

  /// `run`, every server, and these.
  std::vector<std::string> run(const std::vector<std::string>& args, const std::string& parameters = "") const {
    std::vector<std::string> all{"run"};
    for (const RedisServer& each : servers_) all.insert(all.end(), {"--url", each.url() + parameters});
    all.insert(all.end(), args.begin(), args.end());
    return all;
  }
  std::string urls(const std::string& between) const {
    std::string text;
    for (const RedisServer& each : servers_) text += (text.empty() ? "" : between) + each.url();
    return text;
  }
  std::vector<std::string> keys(std::size_t i) {
    std::vector<std::string> found;
    for (const auto& reply : Raw(server(i)).command("KEYS", "*").elements) found.push_back(reply.text);
    std::ranges::sort(found);
    return found;
  }
  bool all_are_free() {
    return eventually([&] {
      for (std::size_t i = 0; i < count(); ++i) {
        if (!keys(i).empty()) return false;
      }
      return true;
    });
  }

 private:
  std::array<RedisServer, 5> servers_;
};

TEST_F(SeveralServers, AllHoldTheLockOfOneOwnerAndAreAllFreeAfterwards) {
  Process process = start(run({"job", "--", "sh", "-c", "echo $HOLDFAST_OWNER; echo \"$HOLDFAST_NAME\"; read line"}));
  const std::optional<std::string> owner = process.read_line();
  EXPECT_EQ(process.read_line(), "job");
  for (std::size_t i = 0; i < count(); ++i) {
    EXPECT_TRUE(eventually([&] { return Raw(server(i)).hgetall("job").contains(owner.value_or("")); })) << i;
  }
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(0));
  EXPECT_TRUE(all_are_free());
}

TEST_F(SeveralServers, ExcludeAnotherRunAndTellEveryVote) {
  Process first = start(run({"job", "--", "sh", "-c", "echo started; read line"}));
  ASSERT_EQ(first.read_line(), "started");
  const Outcome second = use(run({"-n", "job", "--", "echo", "ran"}));
  EXPECT_EQ(second.status, exited(1));
  EXPECT_THAT(second.out, IsEmpty());
  EXPECT_THAT(second.err, HasSubstr("lock \"job\" on 5 servers: somebody else holds it: 0 of 5 servers granted it"));
  for (std::size_t i = 0; i < count(); ++i) EXPECT_THAT(second.err, HasSubstr(server(i).socket_path() + ": h"));

  Process third = start(run({"-v", "job", "--", "echo", "third"}));
  EXPECT_THAT(third.read_error_line().value_or(""), AllOf(HasSubstr("held by "), HasSubstr(", waiting")));
  first.close_stdin();
  EXPECT_EQ(finish(third).out, "third\n");
}

TEST_F(SeveralServers, ExcludeWhoHasOneOfThemOnlyWhenThatIsAMajority) {
  for (const std::size_t i : {0U, 1U}) put_held_lock(Raw(server(i)), "job", kSomebody);
  EXPECT_EQ(use(run({"-n", "job", "--", "true"})).status, exited(0));
  put_held_lock(Raw(server(2)), "job", kSomebody);
  EXPECT_EQ(use(run({"-n", "job", "--", "true"})).status, exited(1));
}

TEST_F(SeveralServers, MayBeMissingUpToAMinority) {
  server(1).stop();
  server(4).stop();
  const Outcome outcome = use(run({"job", "--", "echo", "ran"}));
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.out, "ran\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(SeveralServers, MayBeFrozenUpToAMinorityAndDoNotHoldUpTheEnd) {
  server(0).freeze();
  server(3).freeze();
  // Were the end to wait for the frozen ones, the test would see it.
  const Outcome outcome = use(run({"-v", "job", "--", "echo", "ran"}, "?release_timeout=5m"));
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.out, "ran\n");
  EXPECT_THAT(outcome.err, HasSubstr(": released after "));
}

TEST_F(SeveralServers, AreRefusedWithEveryVoteWhenAMajorityIsMissing) {
  for (const std::size_t i : {1U, 2U, 4U}) server(i).stop();
  const Outcome outcome = use(run({"-n", "--json", "job", "--", "echo", "ran"}));
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("holdfast: lock \"job\" on 5 servers: too few servers answered: "));
  EXPECT_THAT(outcome.err, HasSubstr(" of 5 servers granted it, 3 are needed ("));
  // The refusal is certain before these two have answered.
  for (const std::size_t i : {0U, 3U}) {
    EXPECT_THAT(outcome.err, AnyOf(HasSubstr(server(i).socket_path() + ": granted"),
                                   HasSubstr(server(i).socket_path() + ": has not answered yet")));
  }
  for (const std::size_t i : {1U, 2U, 4U}) {
    EXPECT_THAT(outcome.err, HasSubstr(server(i).socket_path() + ": cannot reach the server: No such file"));
  }
  EXPECT_THAT(outcome.err, HasSubstr("\"code\":\"no_quorum\""));
  EXPECT_TRUE(eventually([&] { return keys(0).empty() && keys(3).empty(); }));
}

TEST_F(SeveralServers, MayGoAndComeBackWhileTheCommandRuns) {
  Process process = start(run({"-v", "--lease", "2", "job", "--", "sh", "-c", "echo started; read line"}));
  ASSERT_EQ(process.read_line(), "started");
  server(0).stop();
  server(1).restart(Data::lose);
  for (int i = 0; i < 3; ++i) {
    std::optional<std::string> line = process.read_error_line();
    while (line && !line->ends_with("\" renewed")) line = process.read_error_line();
    ASSERT_TRUE(line) << process.errors();
  }
  EXPECT_TRUE(eventually([&] { return Raw(server(1)).exists("job"); })) << "it is asked to take the lock again";
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(0));
}

TEST_F(SeveralServers, LoseTheLockWhenAMajorityGoes) {
  Process process = start(run({"--lease", "2", "job", "--", "sh", "-c", "echo $$; exec sleep 1000"}));
  const pid_t command = read_pid(process);
  for (const std::size_t i : {0U, 1U, 2U}) server(i).kill();
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_FALSE(runs(command));
  EXPECT_THAT(outcome.err, HasSubstr("could not be renewed ("));
  EXPECT_THAT(outcome.err, HasSubstr("lock \"job\" on 5 servers was about to end"));
}

TEST_F(SeveralServers, TakeSeveralNamesOfEitherKind) {
  for (const std::string kind : {"lock", "simple"}) {
    Process process = start(run({"--kind", kind, "b", "a", "--", "sh", "-c", "echo started; read line"}));
    ASSERT_EQ(process.read_line(), "started") << process.errors();
    for (std::size_t i = 0; i < count(); ++i) {
      EXPECT_TRUE(eventually([&] { return keys(i) == std::vector<std::string>{"a", "b"}; })) << kind << i;
      EXPECT_EQ(Raw(server(i)).command("TYPE", "a").text, kind == "lock" ? "hash" : "string");
    }
    EXPECT_EQ(use(run({"-n", "--kind", kind, "a", "--", "true"})).status, exited(1));
    process.write_line("");
    EXPECT_EQ(finish(process).status, exited(0));
    EXPECT_TRUE(all_are_free());
  }
}

TEST_F(SeveralServers, ComeFromTheEnvironmentOrAFileToo) {
  const std::string file = folder_.file("urls");
  std::ofstream(file) << urls("\n") << "\n";
  for (const Outcome& outcome :
       {use({"run", "--json", "job", "--", "true"}, {"HOLDFAST_URL=" + urls(" ")}),
        use({"run", "--json", "--url-file", file, "job", "--", "true"}),
        use({"run", "--json", "job", "--", "true"}, {"HOLDFAST_URL", "HOLDFAST_URL_FILE=" + file})}) {
    EXPECT_EQ(outcome.status, exited(0));
    const boost::json::value report = boost::json::parse(outcome.err);
    EXPECT_EQ(report.at("node"), "5 servers");
    ASSERT_EQ(report.at("nodes").as_array().size(), count());
    for (std::size_t i = 0; i < count(); ++i) {
      EXPECT_EQ(report.at("nodes").at(i).as_string(), server(i).socket_path());
    }
  }
}

TEST_F(SeveralServers, HaveOneVoteEach) {
  const Outcome outcome =
      use({"run", "--url", server(0).url(), "--url", server(0).url() + "?db=1", "job", "--", "echo", "ran"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_EQ(outcome.err, "holdfast: " + server(0).socket_path() + " is given twice: a server has one vote\n");
}

/// Two votes for one server would be none.
TEST_F(SeveralServers, RefuseTheSameOneTwiceAndNameBothAddresses) {
  const RedisServer twice({.listen = ServerOptions::Listen::tcp});
  const std::string port = std::to_string(twice.port());
  const Outcome outcome =
      use({"run", "--url", twice.url(), "--url", "redis://localhost:" + port, "job", "--", "echo", "ran"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("127.0.0.1:" + port + " and localhost:" + port + " are the same server"));
}

}  // namespace
}  // namespace holdfast::test::several_servers_test
