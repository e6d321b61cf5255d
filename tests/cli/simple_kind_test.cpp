// SPDX-License-Identifier: Apache-2.0
// `--kind simple`: the same verbs on the locks of the SET NX PX family.
#include "cli_fixture.hpp"

namespace holdfast::test::simple_kind_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class SimpleKind : public CliTest {
 protected:
  /// Puts a lock on the server as redis-py and its like do.
  void set(const std::string& name, long long ms = 3'600'000) {
    ASSERT_EQ(raw_.command("SET", name, "their-token", "NX", "PX", ms).text, "OK");
  }
};

TEST_F(SimpleKind, IsAStringThatHoldsTheOwner) {
  Process process =
      start({"run", "--kind", "simple", "--lease", "45", "job", "--", "sh", "-c", "echo $HOLDFAST_OWNER; read line"});
  const std::optional<std::string> owner = process.read_line();
  EXPECT_EQ(raw_.command("GET", "job").text, owner);
  EXPECT_GT(raw_.pttl("job"), 30'000);
  EXPECT_NE(raw_.command("SET", "job", "their-token", "NX", "PX", 1000).text, "OK");
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(0));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(SimpleKind, GivesUpWhenSomebodyElseHasIt) {
  set("job");
  const Outcome outcome = use({"run", "--kind=simple", "-n", "job", "--", "echo", "ran"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("somebody else holds it (their-token, "));
  EXPECT_EQ(raw_.command("GET", "job").text, "their-token");
}

TEST_F(SimpleKind, IsWaitedForThoughNobodyTellsOfTheRelease) {
  set("job");
  Process process = start({"run", "-v", "--kind", "simple", "job", "--", "echo", "ran"});
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("held by their-token, waiting"));
  raw_.command("DEL", "job");
  EXPECT_EQ(finish(process).out, "ran\n");
}

TEST_F(SimpleKind, IsRenewedWhileTheCommandRuns) {
  Process process =
      start({"run", "-v", "--kind", "simple", "--lease", "1", "job", "--", "sh", "-c", "echo started; read line"});
  expect_renewals(process, "job");
}

TEST_F(SimpleKind, TakesSeveralNamesTogether) {
  set("b");
  EXPECT_EQ(use({"run", "--kind", "simple", "-n", "a", "b", "--", "true"}).status, exited(1));
  EXPECT_FALSE(raw_.exists("a"));
  raw_.command("DEL", "b");
  EXPECT_EQ(use({"run", "--kind", "simple", "-n", "a", "b", "--", "true"}).status, exited(0));
  EXPECT_EQ(raw_.command("DBSIZE").integer, 0);
}

TEST_F(SimpleKind, IsInspected) {
  EXPECT_EQ(use({"inspect", "--kind", "simple", "job"}).status, exited(1));
  set("job");
  const Outcome outcome = use({"inspect", "--kind", "simple", "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out,
              MatchesRegex("name   job\nstate  held\nowner  their-token\nwho    a client of another library, no name "
                           "known\nttl    [0-9]+ min [0-9]+ s\nholds "
                           " 1\nwaits  nobody who listens for the release\nnode   .*\n"));
}

TEST_F(SimpleKind, IsWaitedForWithoutTakingIt) {
  set("job");
  EXPECT_EQ(use({"wait", "--kind", "simple", "-n", "job"}).status, exited(1));
  Process process = start({"wait", "-v", "--kind", "simple", "job"});
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("held by their-token, waiting"));
  raw_.command("DEL", "job");
  EXPECT_EQ(finish(process).status, exited(0));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(SimpleKind, IsShownAndLeftAloneUnlessItsOwnerIsNamed) {
  set("job");
  Outcome outcome = use({"break", "--yes", "--kind", "simple", "job"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("is left alone: it holds their-token, and any string looks like a lock"));
  EXPECT_EQ(raw_.command("GET", "job").text, "their-token");
  outcome = use({"break", "--yes", "--kind", "simple", "free"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.err, HasSubstr("is free"));
}

TEST_F(SimpleKind, IsTakenAwayFromItsHolder) {
  set("job");
  const Outcome outcome = use({"break", "--yes", "--kind", "simple", "--owner", "their-token", "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, HasSubstr("taken from their-token"));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(SimpleKind, IsNotMistakenForTheOtherKind) {
  set("string");
  hold("hash");
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"run", "string", "--", "true"},
                                             {"break", "--yes", "string"},
                                             {"run", "--kind", "simple", "hash", "--", "true"},
                                             {"inspect", "--kind", "simple", "hash"},
                                             {"break", "--yes", "--kind", "simple", "hash"}}) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(69)) << args[0];
    EXPECT_THAT(outcome.err, HasSubstr("a key of another type has this name"));
  }
  EXPECT_EQ(raw_.command("DBSIZE").integer, 2);
  EXPECT_EQ(use({"ls", "-q"}).out, "hash\n");
}

}  // namespace
}  // namespace holdfast::test::simple_kind_test
