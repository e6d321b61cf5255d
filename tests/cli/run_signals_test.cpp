// SPDX-License-Identifier: Apache-2.0
// `holdfast run` obeys signals in every phase, and its command never outlives it.
#include "cli_fixture.hpp"

namespace holdfast::test::run_signals_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class RunSignals : public CliTest {};

TEST_F(RunSignals, EndTheWaitAndLeaveNothingOnTheServer) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    hold("job");
    Process process = start({"run", "-v", "job", "--", "echo", "ran"});
    ASSERT_THAT(process.read_error_line().value_or(""), HasSubstr("waiting"));
    ASSERT_TRUE(eventually([&] { return raw_.command("PUBSUB", "CHANNELS").elements.size() == 1; }));
    process.signal(signal);
    const Outcome outcome = finish(process);
    EXPECT_EQ(outcome.status, killed_by(signal));
    EXPECT_EQ(outcome.out, "");
    // The lock becomes free, and nobody who is gone takes it.
    EXPECT_EQ(owner_of("job"), kSomebody);
    raw_.command("DEL", "job");
    EXPECT_EQ(raw_.command("DBSIZE").integer, 0);
    EXPECT_TRUE(eventually([&] { return raw_.command("PUBSUB", "CHANNELS").elements.empty(); }));
  }
}

TEST_F(RunSignals, EndTheWaitForAServerThatDoesNotAnswer) {
  hold("job");
  Process process = start({"run", "-v", "job", "--", "true"});
  ASSERT_THAT(process.read_error_line().value_or(""), HasSubstr("waiting"));
  ASSERT_TRUE(eventually([&] { return raw_.command("PUBSUB", "CHANNELS").elements.size() == 1; }));
  server_.freeze();
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), killed_by(SIGTERM));
  server_.thaw();
}

TEST_F(RunSignals, ArePassedOnToTheCommand) {
  Process process =
      start({"run", "job", "--", "sh", "-c",
             "for s in INT HUP QUIT USR1 USR2 WINCH CONT; do trap \"echo $s\" $s; done; trap 'echo TERM; exit 5' "
             "TERM; echo ready; while :; do sleep 0.02; done"});
  ASSERT_EQ(process.read_line(), "ready");
  const std::vector<std::pair<int, std::string>> signals{{SIGHUP, "HUP"},     {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"},
                                                         {SIGWINCH, "WINCH"}, {SIGCONT, "CONT"}, {SIGTERM, "TERM"}};
  for (const auto& [signal, name] : signals) {
    process.signal(signal);
    EXPECT_EQ(process.read_line(), name);
    // For a command that is stopped.
    if (signal == SIGHUP) {
      EXPECT_EQ(process.read_line(), "CONT");
    }
  }
  EXPECT_EQ(finish(process).status, exited(5));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(RunSignals, ThatKillTheCommandReleaseTheLock) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1}) {
    Process process = start({"run", "job", "--", "sh", "-c", "echo started; exec sleep 1000"});
    ASSERT_EQ(process.read_line(), "started");
    process.signal(signal);
    EXPECT_EQ(finish(process).status, killed_by(signal));
    EXPECT_FALSE(raw_.exists("job"));
  }
}

TEST_F(RunSignals, ReachWhatTheCommandHasStartedToo) {
  Process process = start({"run", "job", "--", "sh", "-c", "sleep 1000 & echo $!; wait; true"});
  const pid_t grandchild = read_pid(process);
  process.signal(SIGTERM);
  EXPECT_EQ(finish(process).status, killed_by(SIGTERM));
  EXPECT_FALSE(runs(grandchild));
}

TEST_F(RunSignals, ThatWereIgnoredAtTheStartStayIgnored) {
  Process process = start_shell("trap '' HUP; exec \"$tool\" run job -- sh -c 'echo started; read line; echo done'");
  ASSERT_EQ(process.read_line(), "started");
  process.signal(SIGHUP);
  process.write_line("");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out, HasSubstr("done"));
}

TEST_F(RunSignals, ThatStopTheCommandAreUndone) {
  Process process = start({"run", "job", "--", "sh", "-c", "echo $$; read line; exit 4"});
  const pid_t command = read_pid(process);
  kill(command, SIGSTOP);
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("the command was suspended, and is continued"));
  EXPECT_TRUE(eventually([&] { return state_of(command) != 'T'; }));
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(4));
}

TEST_F(RunSignals, OfTheTerminalCannotSuspendTheHolder) {
  Process process = start({"run", "job", "--", "sh", "-c", "echo started; read line; exit 4"});
  ASSERT_EQ(process.read_line(), "started");
  process.signal(SIGTSTP);
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(4));
}

TEST_F(RunSignals, ThatKillTheCommandAloneAreReportedByTheExitCode) {
  Process process = start({"run", "job", "--", "sh", "-c", "echo $$; exec sleep 1000"});
  kill(read_pid(process), SIGTERM);
  EXPECT_EQ(finish(process).status, exited(128 + SIGTERM));
}

TEST_F(RunSignals, ThatKillTheGuardBringAnotherOne) {
  Process process = start({"run", "job", "--", "sh", "-c", "sh -c 'echo $$; exec sleep 1000' & wait; true"});
  const pid_t grandchild = read_pid(process);
  const Children first = children_of(process.pid());
  ASSERT_TRUE(runs(first.guard));
  kill(first.guard, SIGKILL);
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("another one has taken its place"));
  // The first one has closed its files, but may still be there.
  ASSERT_TRUE(eventually([&] { return !runs(first.guard); }));
  const Children second = children_of(process.pid());
  ASSERT_TRUE(runs(second.guard));
  // It guards what the first one has guarded.
  process.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !runs(second.command) && !runs(grandchild) && !runs(second.guard); }));
}

TEST_F(RunSignals, ThatKillToolAndGuardAtOnceKillTheCommand) {
  Process process = start({"run", "job", "--", "sh", "-c", "echo started; trap '' TERM; read line"});
  ASSERT_EQ(process.read_line(), "started");
  const Children children = children_of(process.pid());
  ASSERT_GT(children.guard, 0);
  process.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(process.pid()) == 'T'; }));
  kill(children.guard, SIGKILL);
  process.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !runs(children.command); }));
}

TEST_F(RunSignals, ThatKillTheToolKillTheCommandAndWhatItHasStarted) {
  Process process = start({"run", "job", "--", "sh", "-c",
                           "trap '' TERM; sh -c 'trap \"\" TERM; sleep 1000' & echo $$; echo $!; wait; true"});
  const pid_t command = read_pid(process);
  const pid_t grandchild = read_pid(process);
  ASSERT_TRUE(runs(command));
  ASSERT_TRUE(runs(grandchild));
  process.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !runs(command) && !runs(grandchild); }));
}

}  // namespace
}  // namespace holdfast::test::run_signals_test
