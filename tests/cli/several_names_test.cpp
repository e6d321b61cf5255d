// SPDX-License-Identifier: Apache-2.0
// `holdfast run` with several names: all of them are taken together, or none.
#include "cli_fixture.hpp"

namespace holdfast::test::several_names_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class SeveralNames : public CliTest {};

TEST_F(SeveralNames, AreHeldTogetherByOneOwnerAndReleasedTogether) {
  Process process =
      start({"run", "b", "a", "c", "--", "sh", "-c", "echo \"$HOLDFAST_NAME\"; echo $HOLDFAST_OWNER; read line"});
  for (const char* name : {"b", "a", "c"}) EXPECT_EQ(process.read_line(), name);
  const std::optional<std::string> owner = process.read_line();
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(owner_of(name), owner);
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(0));
  EXPECT_EQ(raw_.command("DBSIZE").integer, 0);
}

TEST_F(SeveralNames, AreNotTakenAtAllWhenOneIsHeldBySomebodyElse) {
  hold("b");
  const Outcome outcome = use({"run", "-n", "a", "b", "c", "--", "echo", "ran"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("lock \"a, b, c\" on " + server_.socket_path() + ": somebody else holds it"));
  EXPECT_THAT(outcome.err, HasSubstr("\"b\" is held by somebody else"));
  EXPECT_THAT(outcome.err, HasSubstr("(" + kSomebody + ", "));
  EXPECT_EQ(raw_.command("DBSIZE").integer, 1);
}

TEST_F(SeveralNames, AreWaitedFor) {
  hold("b");
  Process process = start({"run", "-v", "a", "b", "--", "echo", "ran"});
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("held by " + kSomebody + ", waiting"));
  EXPECT_FALSE(raw_.exists("a"));
  EXPECT_EQ(use({"break", "--yes", "b"}).status, exited(0));
  EXPECT_EQ(finish(process).out, "ran\n");
}

TEST_F(SeveralNames, DoNotDeadlockWhateverTheirOrder) {
  const std::string loop = "for i in 1 2 3 4 5 6 7 8 9 10; do \"$tool\" run $names -- true || exit 1; done";
  std::vector<Process> processes;
  for (const char* names : {"a b", "b a", "b c", "c a b"}) {
    processes.push_back(Process("/bin/sh", {"-c", loop},
                                {.env = {"HOLDFAST_URL=" + url_, "tool=" + tool(), std::string("names=") + names}}));
  }
  for (Process& process : processes) EXPECT_EQ(process.wait(), exited(0)) << process.errors();
}

TEST_F(SeveralNames, AreLostWhenOneOfThemIs) {
  Process process =
      start({"run", "--lease", "1", "a", "b", "--", "sh", "-c", "echo started; trap 'exit 0' TERM; sleep 1000 & wait"});
  ASSERT_EQ(process.read_line(), "started");
  EXPECT_EQ(use({"break", "--yes", "b"}).status, exited(0));
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_THAT(outcome.err, HasSubstr("lock \"a, b\" on " + server_.socket_path() + " was lost"));
  EXPECT_FALSE(raw_.exists("a"));
}

TEST_F(SeveralNames, GoWithALineOfShell) {
  EXPECT_EQ(use({"run", "a", "b", "-c", "echo \"$HOLDFAST_NAME\""}).out, "a\nb\n");
  EXPECT_EQ(use({"run", "-c", "echo \"$HOLDFAST_NAME\"", "--", "-a", "-b"}).out, "-a\n-b\n");
}

TEST_F(SeveralNames, MayLookLikeOptionsBetweenTwoPairsOfDashes) {
  const Outcome outcome = use({"run", "--", "-a", "--help", "--", "sh", "-c", "echo \"$HOLDFAST_NAME\""});
  EXPECT_EQ(outcome.out, "-a\n--help\n");
  EXPECT_EQ(use({"run", "-n", "--", "a", "--", "echo", "--", "x"}).out, "-- x\n");
}

TEST_F(SeveralNames, ThatAreTheSameCountOnce) {
  EXPECT_EQ(use({"run", "-n", "a", "a", "--", "echo", "ran"}).out, "ran\n");
}

TEST_F(SeveralNames, ThatAreEmptyAreRefused) {
  const Outcome outcome = use({"run", "a", "", "--", "echo", "ran"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("the lock's name is empty"));
}

}  // namespace
}  // namespace holdfast::test::several_names_test
