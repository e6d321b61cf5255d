// SPDX-License-Identifier: Apache-2.0
// `holdfast run` when all goes well, and when somebody else has the lock.
#include <unistd.h>

#include "cli_fixture.hpp"

namespace holdfast::test::run_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class RunTest : public CliTest {};

TEST_F(RunTest, PassesTheExitCodeOfTheCommandThrough) {
  for (const int code : {0, 1, 7, 64, 75, 124, 255}) {
    EXPECT_EQ(use({"run", "job", "--", "sh", "-c", "exit " + std::to_string(code)}).status, exited(code));
  }
}

TEST_F(RunTest, ReportsASignalThatKilledTheCommandAs128PlusItsNumber) {
  EXPECT_EQ(use({"run", "job", "--", "sh", "-c", "kill -9 $$"}).status, exited(128 + SIGKILL));
  EXPECT_EQ(use({"run", "job", "--", "sh", "-c", "kill -15 $$"}).status, exited(128 + SIGTERM));
}

TEST_F(RunTest, HoldsTheLockWhileTheCommandRunsAndReleasesItAfterwards) {
  Process process = start({"run", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  EXPECT_THAT(owner_of("job"), Not(IsEmpty()));
  EXPECT_GT(raw_.pttl("job"), 20'000);
  process.write_line("go on");
  EXPECT_EQ(finish(process).status, exited(0));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(RunTest, ReleasesTheLockWhenTheCommandFails) {
  EXPECT_EQ(use({"run", "job", "--", "false"}).status, exited(1));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(RunTest, RunsALineOfShellWithMinusC) {
  const Outcome outcome = use({"run", "job", "-c", "echo a b | tr ' ' -; exit 3"});
  EXPECT_EQ(outcome.status, exited(3));
  EXPECT_EQ(outcome.out, "a-b\n");
}

TEST_F(RunTest, SaysWhenTheCommandIsNotFoundAndReleasesTheLock) {
  const Outcome outcome = use({"run", "job", "--", "no-such-command-here"});
  EXPECT_EQ(outcome.status, exited(127));
  EXPECT_EQ(outcome.err, "holdfast: cannot run \"no-such-command-here\": No such file or directory\n");
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(RunTest, SaysWhenTheCommandCannotBeExecuted) {
  const std::string file = folder_.file("not-executable");
  std::ofstream(file) << "#!/bin/sh\n";
  EXPECT_EQ(use({"run", "job", "--", file}).status, exited(126));
  EXPECT_EQ(use({"run", "job", "--", folder_.path().string()}).status, exited(126));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(RunTest, TellsTheCommandWhatItHolds) {
  Process process = start({"run", "--lease", "45", "job 1", "--", "sh", "-c",
                           "echo \"$HOLDFAST_NAME\"; echo $HOLDFAST_OWNER; echo $HOLDFAST_LEASE_MS; echo "
                           "$HOLDFAST_EXPIRES_MS; read line"});
  EXPECT_EQ(process.read_line(), "job 1");
  EXPECT_EQ(process.read_line(), owner_of("job 1"));
  EXPECT_EQ(process.read_line(), "45000");
  const auto now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
  const long long expires = std::stoll(process.read_line().value_or("0"));
  EXPECT_GT(expires, now);
  EXPECT_LE(expires, now + 45'000);
  process.close_stdin();
  finish(process);
}

TEST_F(RunTest, LeavesStandardOutputAndInputToTheCommand) {
  Process process = start({"run", "-v", "--json", "job", "--", "cat"});
  process.write("bytes\n");
  process.close_stdin();
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.out, "bytes\n");
  EXPECT_THAT(outcome.err, HasSubstr("acquired"));
}

TEST_F(RunTest, SaysNothingOfItsOwnWithoutVerbose) {
  const Outcome outcome = use({"run", "job", "--", "true"});
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(RunTest, TakesAnyNameThatArgumentsCanHold) {
  const std::vector<std::string> names{"two words", " ",        "line\nbreak", "{braces}", "[a,b]", "++", "run", "ls",
                                       "*?[",       "\xff\xfe", "käse",        "a=b",      "\\",    "\"", "-",   "%7B"};
  for (const std::string& name : names) {
    Process process = start({"run", name, "--", "sh", "-c", "echo started; read line"});
    ASSERT_EQ(process.read_line(), "started") << name << process.errors();
    EXPECT_TRUE(raw_.exists(name)) << name;
    process.close_stdin();
    finish(process);
    EXPECT_FALSE(raw_.exists(name)) << name;
  }
}

TEST_F(RunTest, TakesANameThatLooksLikeAnOptionAfterTwoDashes) {
  hold("--help");
  EXPECT_EQ(use({"run", "-n", "--", "--help", "--", "echo", "x"}).status, exited(1));
  EXPECT_EQ(use({"run", "-n", "--", "--help", "echo", "x"}).status, exited(1));
  EXPECT_EQ(use({"run", "-n", "--", "-q", "--", "echo", "x"}).out, "x\n");
}

TEST_F(RunTest, LeavesTheArgumentsOfTheCommandAlone) {
  EXPECT_EQ(use({"run", "job", "--", "echo", "-n", "--", "--json"}).out, "-- --json");
}

TEST_F(RunTest, GivesUpAtOnceWithNonblock) {
  hold("job");
  const Outcome outcome = use({"run", "-n", "job", "--", "echo", "ran"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("holdfast: lock \"job\" on "));
  EXPECT_THAT(outcome.err, HasSubstr("somebody else holds it (" + kSomebody + ", "));
  EXPECT_EQ(owner_of("job"), kSomebody);
}

TEST_F(RunTest, GivesUpAfterTheLimitOnWaiting) {
  hold("job");
  const auto start_time = std::chrono::steady_clock::now();
  const Outcome outcome = use({"run", "-w", "0.3", "job", "--", "true"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_GE(std::chrono::steady_clock::now() - start_time, std::chrono::milliseconds(300));
}

TEST_F(RunTest, KeepsTheLimitOnWaitingWhenTheServerIsSilent) {
  server_.freeze();
  const std::vector<std::vector<std::string>> ways{{}, {"-v"}, {"--json"}};
  for (const std::vector<std::string>& options : ways) {
    std::vector<std::string> args{"run", "-w", "1", "job", "--", "true"};
    args.insert(args.begin() + 1, options.begin(), options.end());
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_NE(use(args).status, exited(0));
    // The limit is 1 s; the rest is for slow machines.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(2500));
  }
  server_.thaw();
}

TEST_F(RunTest, KeepsTheLimitOnWaitingWhenTheServerFallsSilent) {
  hold("job");
  const auto begin = std::chrono::steady_clock::now();
  Process process = start({"run", "-v", "-w", "1", "job", "--", "true"});
  ASSERT_THAT(process.read_error_line().value_or(""), HasSubstr("waiting"));
  server_.freeze();
  const std::optional<ExitStatus> status = finish(process).status;
  EXPECT_TRUE(status);
  EXPECT_NE(status, exited(0));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  server_.thaw();
}

TEST_F(RunTest, TakesAWaitOfZeroForNonblock) {
  hold("job");
  EXPECT_THAT(use({"run", "-w", "0", "job", "--", "true"}).err, HasSubstr("somebody else holds it ("));
}

TEST_F(RunTest, UsesTheConflictExitCodeAskedFor) {
  hold("job");
  EXPECT_EQ(use({"run", "-n", "-E", "42", "job", "--", "true"}).status, exited(42));
  EXPECT_EQ(use({"run", "-w", "0.5", "--conflict-exit-code", "0", "job", "--", "true"}).status, exited(0));
}

TEST_F(RunTest, SaysNothingAboutAConflictWhenQuiet) {
  hold("job");
  const Outcome outcome = use({"run", "-q", "-n", "job", "--", "true"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(RunTest, WaitsUntilTheLockIsReleased) {
  Process first = start({"run", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(first.read_line(), "started");
  Process second = start({"run", "-v", "job", "--", "echo", "second"});
  const std::string lock = "holdfast: lock \"job\" on " + server_.socket_path();
  EXPECT_THAT(second.read_error_line().value_or(""),
              testing::AllOf(StartsWith(lock + ": held by "),
                             testing::EndsWith(", process " + std::to_string(first.pid()) + ", label sh, waiting")));
  first.close_stdin();
  const Outcome outcome = finish(second);
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.out, "second\n");
  EXPECT_THAT(outcome.err, HasSubstr(": acquired after "));
  EXPECT_THAT(outcome.err, HasSubstr(": released after "));
}

TEST_F(RunTest, ExcludesOtherRunsOfTheSameName) {
  const std::string counter = folder_.file("counter");
  std::ofstream(counter) << "0\n";
  const std::string increment = "n=$(cat '" + counter + "'); sleep 0.01; echo $((n + 1)) > '" + counter + "'";
  const std::string loop = "for i in 1 2 3 4 5 6 7 8; do \"$tool\" run counter -c \"$increment\" || exit 1; done";
  std::vector<Process> processes;
  for (int i = 0; i < 4; ++i) {
    processes.push_back(Process("/bin/sh", {"-c", loop},
                                {.env = {"HOLDFAST_URL=" + url_, "tool=" + tool(), "increment=" + increment}}));
  }
  for (Process& process : processes) EXPECT_EQ(process.wait(), exited(0)) << process.errors();
  int count = 0;
  std::ifstream(counter) >> count;
  EXPECT_EQ(count, 4 * 8);
}

TEST_F(RunTest, KeepsDifferentNamesApart) {
  hold("job");
  EXPECT_EQ(use({"run", "-n", "other", "--", "true"}).status, exited(0));
}

TEST_F(RunTest, RenewsTheLeaseWhileTheCommandRuns) {
  Process process = start({"run", "-v", "--lease", "1", "job", "--", "sh", "-c", "echo started; read line"});
  expect_renewals(process, "job");
}

TEST_F(RunTest, GivesTheCommandAProcessGroupOfItsOwn) {
  const Outcome outcome = use({"run", "job", "--", "sh", "-c", "echo $$; cut -d' ' -f5 /proc/$$/stat"});
  std::istringstream lines(outcome.out);
  long pid = 0;
  long group = 0;
  lines >> pid >> group;
  EXPECT_NE(pid, 0);
  EXPECT_EQ(group, pid);
}

TEST_F(RunTest, GivesTheCommandTheSignalStateItWasStartedWith) {
  const std::string show = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status";
  Process bare = start_shell("exec " + show);
  Process under = start_shell("exec \"$tool\" run job -- " + show);
  const std::string expected = finish(bare).out;
  EXPECT_THAT(expected, HasSubstr("SigBlk"));
  EXPECT_EQ(finish(under).out, expected);
}

TEST_F(RunTest, LetsOnlyInheritedDescriptorsThroughToTheCommand) {
  const std::string list = "find /proc/self/fd -mindepth 1 -printf '%f -> %l\\n'";
  Process bare = start_shell("exec 7</dev/null; " + list + " | grep -v '/proc/' | cut -d' ' -f1 | sort -n");
  Process under =
      start_shell("exec 7</dev/null; \"$tool\" run job -- " + list + " | grep -v '/proc/' | cut -d' ' -f1 | sort -n");
  const std::string expected = finish(bare).out;
  EXPECT_THAT(expected, HasSubstr("7\n"));
  EXPECT_EQ(finish(under).out, expected);
}

TEST_F(RunTest, HasANameOfItsOwnForItsGuard) {
  Process process = start({"run", "job", "--", "sh", "-c", "echo $PPID; read line"});
  const Children children = children_of(read_pid(process));
  std::string line;
  std::ifstream("/proc/" + std::to_string(children.guard) + "/cmdline") >> line;
  EXPECT_STREQ(line.c_str(), "holdfast-guard");
  process.close_stdin();
  finish(process);
}

TEST_F(RunTest, LetsNothingIntoThePlaceOfClosedStandardDescriptors) {
  const Outcome outcome = [this] {
    Process process = start_shell(
        "exec \"$tool\" run job -- sh -c 'readlink /proc/$PPID/fd/0 /proc/$PPID/fd/2; for fd in 0 2; do test -e "
        "/proc/$$/fd/$fd && echo $fd; done; exit 5' <&- 2>&-");
    return finish(process);
  }();
  EXPECT_EQ(outcome.status, exited(5));
  EXPECT_EQ(outcome.out, "/dev/null\n/dev/null\n");
}

TEST_F(RunTest, TakesAClosedStandardDescriptorForClosed) {
  Process process = start_shell("exec \"$tool\" run --status-fd 2 job -- true 2>&-");
  EXPECT_EQ(finish(process).status, exited(64));
  Process ls = start_shell("exec \"$tool\" ls -q >&-");
  const Outcome outcome = finish(ls);
  EXPECT_EQ(outcome.status, exited(0)) << outcome.err;  // nothing is held, so there is nothing to write
  hold("job");
  Process full = start_shell("exec \"$tool\" ls -q >&-");
  EXPECT_EQ(finish(full).status, exited(70));
}

TEST_F(RunTest, EndsWhatTheCommandLeavesBehindBeforeTheLockIsReleased) {
  Process process =
      start({"run", "job", "--", "sh", "-c", "sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & sleep 0.2"});
  const pid_t leftover = read_pid(process);
  ASSERT_TRUE(runs(leftover));
  Process next = start({"run", "job", "--", "sh", "-c", "kill -0 " + std::to_string(leftover) + " && echo overlap"});
  EXPECT_EQ(finish(process).status, exited(0));
  EXPECT_THAT(finish(next).out, IsEmpty());
  EXPECT_FALSE(runs(leftover));
}

TEST_F(RunTest, LetsWhatTheCommandLeavesBehindEndByItself) {
  const std::string file = folder_.file("late");
  const Outcome outcome = use({"run", "job", "--", "sh", "-c", "(sleep 0.05; echo done > '" + file + "') & exit 0"});
  EXPECT_EQ(outcome.status, exited(0));
  std::string text;
  std::ifstream(file) >> text;
  EXPECT_EQ(text, "done");
}

TEST_F(RunTest, SparesWhatHasLeftTheProcessGroup) {
  const Outcome outcome =
      use({"run", "job", "--", "sh", "-c", "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; sleep 0.2"});
  const auto daemon = static_cast<pid_t>(std::stol(outcome.out));
  EXPECT_TRUE(runs(daemon));
  kill(daemon, SIGKILL);
}

TEST_F(RunTest, LeavesItsGuardBehindInNoCase) {
  Process process = start({"run", "job", "--", "sh", "-c", "echo $PPID; read line"});
  const Children children = children_of(read_pid(process));
  ASSERT_TRUE(runs(children.guard));
  ASSERT_TRUE(runs(children.command));
  process.close_stdin();
  finish(process);
  EXPECT_FALSE(runs(children.guard));
  EXPECT_FALSE(runs(children.command));
}

}  // namespace
}  // namespace holdfast::test::run_test
