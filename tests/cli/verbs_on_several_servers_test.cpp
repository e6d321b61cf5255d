// SPDX-License-Identifier: Apache-2.0
// `holdfast ls`, `inspect`, `wait` and `break` with several servers: a lock is whose a majority says.
#include <array>

#include <boost/json.hpp>

#include "cli_fixture.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::verbs_on_several_servers_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kOther = "11111111-2222-4333-8444-555555555555:1";

class VerbsOnSeveralServers : public CliTest {
 protected:
  RedisServer& server(std::size_t i) { return servers_[i]; }

  std::vector<std::string> on_all(std::vector<std::string> args) const {
    for (const RedisServer& each : servers_) args.insert(args.begin(), {"--url", each.url()});
    return args;
  }
  void hold_on(std::size_t i, const std::string& owner, long long ms = 3'600'000) {
    Raw raw(server(i));
    put_held_lock(raw, "job", owner);
    raw.command("PEXPIRE", "job", ms);
  }
  bool held_on(std::size_t i) { return Raw(server(i)).exists("job"); }

 private:
  std::array<RedisServer, 3> servers_;
};

TEST_F(VerbsOnSeveralServers, InspectTellsTheMajoritysOwnerAndEachServersWords) {
  hold_on(0, kSomebody, 60'000);
  hold_on(1, kSomebody, 600'000);
  const Outcome outcome = use(on_all({"inspect", "job"}));
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("state  held\nowner  " + kSomebody + "\n"),
                    HasSubstr("votes  2 of 3 servers, 2 needed\n"), HasSubstr(server(2).socket_path() + "  free\n")));
  const boost::json::value value = boost::json::parse(use(on_all({"inspect", "--json", "job"})).out);
  EXPECT_EQ(value.at("held"), true);
  EXPECT_EQ(value.at("owner").as_string(), kSomebody);
  EXPECT_LE(value.at("remaining_ms").as_int64(), 60'000) << "then there is no majority any more";
  EXPECT_EQ(value.at("node"), "3 servers");
  EXPECT_EQ(value.at("servers").as_array().size(), 3U);
}

TEST_F(VerbsOnSeveralServers, InspectFindsItFreeWhenNobodyHasAMajority) {
  hold_on(0, kSomebody);
  hold_on(1, kOther);
  const Outcome outcome = use(on_all({"inspect", "job"}));
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("state  free\n"), HasSubstr(kSomebody), HasSubstr(kOther)));
}

TEST_F(VerbsOnSeveralServers, AMinorityMayBeDown) {
  hold_on(0, kSomebody);
  hold_on(2, kSomebody);
  server(1).stop();
  Outcome outcome = use(on_all({"inspect", "job"}));
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out, HasSubstr(server(1).socket_path() + "  cannot reach the server: No such file"));
  EXPECT_EQ(use(on_all({"wait", "-n", "job"})).status, exited(1));
  outcome = use(on_all({"break", "-y", "job"}));
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, HasSubstr("taken from " + kSomebody + " (on 2)"));
  EXPECT_EQ(use(on_all({"wait", "-n", "job"})).status, exited(0));
}

TEST_F(VerbsOnSeveralServers, WhatDependsOnAServerThatIsDownIsNotSaid) {
  hold_on(0, kSomebody);
  server(1).stop();
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"inspect", "job"}, std::vector<std::string>{"wait", "-n", "job"}}) {
    const Outcome outcome = use(on_all(args));
    EXPECT_EQ(outcome.status, exited(69));
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("lock \"job\" on 3 servers: too few servers answered: "),
                                   HasSubstr(server(0).socket_path() + ": held by " + kSomebody),
                                   HasSubstr(server(1).socket_path() + ": cannot reach the server"),
                                   HasSubstr(server(2).socket_path() + ": free")));
  }
  server(2).stop();
  EXPECT_EQ(use(on_all({"break", "-y", "job"})).status, exited(69));
  EXPECT_TRUE(held_on(0)) << "too few are there to break it";
}

TEST_F(VerbsOnSeveralServers, WaitEndsWhenAMajorityIsGone) {
  for (const std::size_t i : {0U, 1U, 2U}) hold_on(i, kSomebody);
  Process process = start(on_all({"wait", "-v", "job"}));
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("held by " + kSomebody + ", waiting"));
  Raw(server(0)).command("DEL", "job");
  Raw(server(1)).command("DEL", "job");
  EXPECT_EQ(finish(process).status, exited(0));
}

TEST_F(VerbsOnSeveralServers, BreakTakesEveryPartFromWhomItSawThere) {
  hold_on(0, kSomebody);
  hold_on(1, kSomebody);
  hold_on(2, kOther);
  const Outcome outcome = use(on_all({"break", "-y", "--owner", kSomebody, "job"}));
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_FALSE(held_on(0) || held_on(1));
  EXPECT_TRUE(held_on(2));
  EXPECT_EQ(use(on_all({"break", "-y", "job"})).status, exited(0));
  EXPECT_FALSE(held_on(2));
  EXPECT_EQ(use(on_all({"break", "-y", "job"})).status, exited(1));
}

TEST_F(VerbsOnSeveralServers, BreakEndsAHoldOfRun) {
  Process run = start(on_all({"run", "--lease", "3", "job", "--", "sh", "-c", "echo started; exec sleep 1000"}));
  ASSERT_EQ(run.read_line(), "started");
  // The last of them may be on its way.
  ASSERT_TRUE(eventually([&] { return held_on(0) && held_on(1) && held_on(2); }));
  EXPECT_EQ(use(on_all({"break", "-y", "job"})).status, exited(0));
  EXPECT_EQ(finish(run).status, exited(75));
}

TEST_F(VerbsOnSeveralServers, LsShowsWhereEachLockIs) {
  hold_on(0, kSomebody);
  hold_on(2, kSomebody);
  const Outcome outcome = use(on_all({"ls"}));
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("  NODE\n"), HasSubstr("  " + server(0).socket_path() + "\n"),
                    HasSubstr("  " + server(2).socket_path() + "\n"), Not(HasSubstr(server(1).socket_path()))));
  EXPECT_EQ(use(on_all({"ls", "-q"})).out, "job\n");
}

TEST_F(VerbsOnSeveralServers, LsTellsWhichServerIsMissing) {
  hold_on(0, kSomebody);
  server(1).stop();
  Outcome outcome = use(on_all({"ls"}));
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.out, HasSubstr(kSomebody));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(server(1).socket_path()), HasSubstr("cannot reach the server")));
  outcome = use(on_all({"ls", "--json"}));
  const boost::json::array rows = boost::json::parse(outcome.out).as_array();
  ASSERT_EQ(rows.size(), 2U);
  for (const boost::json::value& row : rows) {
    const bool missing = row.at("node").as_string() == server(1).socket_path();
    EXPECT_EQ(row.as_object().contains("error"), missing);
    EXPECT_EQ(row.as_object().contains("owner"), !missing);
  }
}

}  // namespace
}  // namespace holdfast::test::verbs_on_several_servers_test
