// SPDX-License-Identifier: Apache-2.0
// `holdfast run` when the lock is lost, or about to be: the command has ended before anyone else can hold the lock.
#include "cli_fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::test::run_loss_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

/// Ends at SIGTERM, and says so.
constexpr const char* kPolite = "trap 'echo term; exit 0' TERM; echo $$; while :; do sleep 0.02; done";
/// Ends at SIGKILL only.
constexpr const char* kStubborn = "trap 'echo term' TERM; echo $$; while :; do sleep 0.02; done";

class RunLoss : public CliTest {
 protected:
  RunLoss() : CliTest({.listen = ServerOptions::Listen::tcp}) {}

  Process start_command(const std::string& line, std::vector<std::string> options) {
    std::vector<std::string> args{"run"};
    args.insert(args.end(), options.begin(), options.end());
    args.insert(args.end(), {"job", "--", "sh", "-c", line});
    return start(args);
  }

  /// How long the command lived on, if it ended within the time.
  static milliseconds time_to_end(pid_t command) {
    const auto begin = steady_clock::now();
    EXPECT_TRUE(eventually([&] { return !runs(command); }));
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
  }
};

TEST_F(RunLoss, EndsTheCommandWithTermInsideTheLeaseWhenTheServerFreezes) {
  Process process = start_command(kPolite, {"--lease", "3", "--kill-after", "1"});
  const pid_t command = read_pid(process);
  server_.freeze();
  EXPECT_LT(time_to_end(command), milliseconds(3000));
  const Outcome outcome = finish(process);
  server_.thaw();
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_EQ(outcome.out, std::to_string(command) + "\nterm\n");
  EXPECT_THAT(outcome.err, HasSubstr("cannot be renewed and ends in "));
  EXPECT_THAT(outcome.err, HasSubstr("was about to end while the command ran (no renewal came through); the command"));
}

TEST_F(RunLoss, KillsACommandThatIgnoresTermInsideTheLease) {
  Process process = start_command(kStubborn, {"--lease", "3", "--kill-after", "1"});
  const pid_t command = read_pid(process);
  server_.freeze();
  EXPECT_LT(time_to_end(command), milliseconds(3000));
  const Outcome outcome = finish(process);
  server_.thaw();
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_THAT(outcome.out, HasSubstr("term"));
  EXPECT_THAT(outcome.err, HasSubstr("sent SIGKILL"));
}

TEST_F(RunLoss, KillsTheCommandAndWhatItHasStartedWithoutTermWhenAskedTo) {
  Process process = start_command("sh -c 'echo $$; exec sleep 1000' & " + std::string(kPolite),
                                  {"--lease", "2", "--on-lost", "kill"});
  const pid_t one = read_pid(process);
  const pid_t other = read_pid(process);
  server_.freeze();
  EXPECT_LT(time_to_end(one), milliseconds(2000));
  EXPECT_LT(time_to_end(other), milliseconds(2000));
  const Outcome outcome = finish(process);
  server_.thaw();
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_THAT(outcome.out, Not(HasSubstr("term")));
}

TEST_F(RunLoss, OnlyWarnsWhenAskedToAndPassesTheExitCodeThrough) {
  Process process = start_command("echo $$; read line; exit 6", {"--lease", "1", "--on-lost", "warn"});
  const pid_t command = read_pid(process);
  server_.freeze();
  std::optional<std::string> line = process.read_error_line();
  while (line && line->find("the command goes on") == std::string::npos) line = process.read_error_line();
  EXPECT_TRUE(line) << process.errors();
  EXPECT_TRUE(runs(command));
  server_.thaw();
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(6));
}

TEST_F(RunLoss, LetsTheNextHolderInOnlyWhenTheCommandOfACutOffToolHasEnded) {
  Proxy proxy(server_);
  const std::string direct = url_;
  url_ = proxy.url();
  Process first = start_command(kStubborn, {"--lease", "2"});
  const pid_t command = read_pid(first);
  proxy.drop_requests(true);
  proxy.drop_replies(true);
  url_ = direct;
  const Outcome next = use(
      {"run", "job", "--", "sh", "-c", "kill -0 " + std::to_string(command) + " 2>&- && echo overlap || echo alone"});
  EXPECT_EQ(next.out, "alone\n") << next.err;
  EXPECT_EQ(finish(first).status, exited(75));
}

TEST_F(RunLoss, EndsTheCommandWhenSomebodyBreaksTheLock) {
  Process process = start_command(kPolite, {"--lease", "1"});
  const pid_t command = read_pid(process);
  EXPECT_EQ(use({"break", "--yes", "job"}).status, exited(0));
  time_to_end(command);
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_THAT(outcome.out, HasSubstr("term"));
  EXPECT_THAT(outcome.err, HasSubstr("is lost; sent SIGTERM"));
  EXPECT_THAT(outcome.err, HasSubstr("was lost while the command ran (broken by somebody"));
}

TEST_F(RunLoss, ToldAfterTheCommandHasEndedIsReportedToo) {
  Process process = start_command("echo $$; read line; exit 0", {"--lease", "300"});
  read_pid(process);
  raw_.flushall();
  hold("job");
  process.write_line("");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_THAT(outcome.err, HasSubstr("the command had ended by itself"));
  EXPECT_EQ(owner_of("job"), kSomebody);
}

TEST_F(RunLoss, OfAllDataEndsTheCommand) {
  Process process = start_command(kPolite, {"--lease", "1"});
  read_pid(process);
  server_.restart(Data::lose);
  EXPECT_EQ(finish(process).status, exited(75));
}

TEST_F(RunLoss, IsNoneWhenARenewalComesThroughInTime) {
  Proxy proxy(server_);
  url_ = proxy.url();
  Process process = start_command("echo $$; read line; exit 0", {"-v", "--lease", "2"});
  read_pid(process);
  for (int i = 0; i < 3; ++i) {
    proxy.cut();
    std::optional<std::string> line = process.read_error_line();
    while (line && !line->ends_with("\" renewed")) line = process.read_error_line();
    ASSERT_TRUE(line) << process.errors();
  }
  process.write_line("");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(0)) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("SIGTERM")));
}

TEST_F(RunLoss, ComesWithTheEndOfMaxHold) {
  const auto begin = steady_clock::now();
  Process process = start_command(kPolite, {"--lease", "10", "--max-hold", "1"});
  const pid_t command = read_pid(process);
  EXPECT_TRUE(eventually([&] { return !runs(command); }));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(5000));
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_THAT(outcome.out, HasSubstr("term"));
  EXPECT_THAT(outcome.err, HasSubstr("has nearly reached --max-hold; sent SIGTERM"));
  EXPECT_THAT(outcome.err, HasSubstr("was about to end while the command ran (--max-hold is over)"));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(RunLoss, EndsTheCommandEvenWhenTheToolIsStopped) {
  Process process = start_command("trap '' TERM; sh -c 'echo $$; exec sleep 1000' & wait; true", {"--lease", "2"});
  const pid_t grandchild = read_pid(process);
  process.signal(SIGSTOP);
  // The lease is not renewed any more, and by the time it ends nothing of the command is left.
  ASSERT_TRUE(eventually([&] { return !raw_.exists("job"); }));
  EXPECT_FALSE(runs(grandchild));
  process.signal(SIGCONT);
  EXPECT_EQ(finish(process).status, exited(75));
}

TEST_F(RunLoss, IsNoneWhenOnlyTheReleaseIsNotConfirmed) {
  Proxy proxy(server_);
  url_ = proxy.url();
  Process process = start_command("echo $$; read line; exit 3", {"--lease", "20"});
  read_pid(process);
  proxy.drop_requests(true);
  process.write_line("");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(3));
  EXPECT_THAT(outcome.err, HasSubstr("the release was not confirmed"));
}

}  // namespace
}  // namespace holdfast::test::run_loss_test
