// SPDX-License-Identifier: Apache-2.0
// The tool on a terminal: `script` gives it one whose keys the test presses.
#include <thread>

#include "cli_fixture.hpp"
#include "support/terminals.hpp"

namespace holdfast::test::terminal_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class OnTerminal : public CliTest {
 protected:
  void SetUp() override {
    if (const auto why = why_no_terminal()) GTEST_SKIP() << *why;
  }

  /// Runs a line of shell, in which `$tool` is the tool, on a terminal of its own.
  Process start_on_terminal(const std::string& line) {
    return start_shell("exec script -qefc '" + line + "' /dev/null");
  }

  /// Waits for a text on the screen.
  static bool shows(Process& process, const std::string& text) {
    return eventually([&] { return process.output().find(text) != std::string::npos || !process.running(); }) &&
           process.output().find(text) != std::string::npos;
  }
};

TEST_F(OnTerminal, TheCommandReadsKeys) {
  Process process = start_on_terminal("\"$tool\" run job -- sh -c \"echo ready; read line; echo got=\\$line\"");
  ASSERT_TRUE(shows(process, "ready")) << process.output();
  process.write("hello\n");
  EXPECT_TRUE(shows(process, "got=hello")) << process.output();
  EXPECT_EQ(process.finish(), exited(0));
}

TEST_F(OnTerminal, ACommandInAPipelineGetsTheTerminalWhenItReads) {
  Process process =
      start_on_terminal("\"$tool\" run job -- sh -c \"echo ready; read line </dev/tty; echo got=\\$line\" | cat");
  ASSERT_TRUE(shows(process, "ready")) << process.output();
  process.write("hello\n");
  EXPECT_TRUE(shows(process, "got=hello")) << process.output();
  EXPECT_EQ(process.finish(), exited(0));
}

TEST_F(OnTerminal, ACommandInTheBackgroundGetsTheTerminalWhenItComesToTheForeground) {
  Process process = start_on_terminal("bash --norc -i");
  process.write("\"$tool\" run job -- sh -c \"read line </dev/tty; echo got=\\$line\" &\n");
  ASSERT_TRUE(shows(process, "needs the terminal but runs in the background")) << process.output();
  process.write("fg\n");
  ASSERT_TRUE(shows(process, "fg\r\n")) << process.output();
  process.write("hello\n");
  EXPECT_TRUE(shows(process, "got=hello")) << process.output();
  process.write("exit\n");
  EXPECT_TRUE(process.finish());
}

TEST_F(OnTerminal, AnInteractiveShellWorksAsUsual) {
  Process process = start_on_terminal("\"$tool\" run job -- bash --norc -i");
  process.write("echo $((20 + 3)); sleep 1000\n");
  ASSERT_TRUE(shows(process, "23\r\n")) << process.output();
  // The key counts only once the shell has put its job into the foreground.
  const bool stopped = eventually([&] {
    process.write("\x1a");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return process.output().find("Stopped") != std::string::npos;
  });
  ASSERT_TRUE(stopped) << process.output();
  // A shell that has not yet seen its job die asks to be told twice.
  process.write("kill -9 %1; exit 7\nexit 7\n");
  EXPECT_EQ(process.finish(), exited(7)) << process.output();
}

TEST_F(OnTerminal, TheInterruptKeyEndsTheCommandAndReleasesTheLock) {
  Process process = start_on_terminal("\"$tool\" run job -- sh -c \"echo ready; exec sleep 1000\"");
  ASSERT_TRUE(shows(process, "ready")) << process.output();
  process.write("\x03");
  EXPECT_EQ(process.finish(), exited(128 + SIGINT));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(OnTerminal, TheInterruptKeyEndsALoopOfAScript) {
  const std::string script = folder_.file("script");
  std::ofstream(script)
      << "for i in 1 2 3; do \"$tool\" run job -- sh -c 'echo ready; exec sleep 1000'; done\necho after\n";
  for (const std::string shell : {"bash", "sh"}) {
    Process process = start_on_terminal(shell + " " + script);
    ASSERT_TRUE(shows(process, "ready")) << process.output();
    process.write("\x03");
    EXPECT_EQ(process.finish(), exited(128 + SIGINT)) << shell;
    EXPECT_THAT(process.output(), Not(HasSubstr("after")));
    EXPECT_FALSE(raw_.exists("job"));
  }
}

TEST_F(OnTerminal, TheInterruptKeyDoesNotEndALoopWhoseCommandsHandleIt) {
  const std::string script = folder_.file("script");
  std::ofstream(script) << "for i in 1 2; do \"$tool\" run job -- sh -c 'trap \"echo got; exit 3\" INT; echo ready$1; "
                           "while :; do sleep 0.02; done' sh $i; echo code=$?; done\n";
  Process process = start_on_terminal("bash " + script);
  for (const std::string round : {"1", "2"}) {
    ASSERT_TRUE(shows(process, "ready" + round)) << process.output();
    process.write("\x03");
  }
  EXPECT_EQ(process.finish(), exited(0));
  EXPECT_THAT(process.output(), HasSubstr("code=3"));
}

TEST_F(OnTerminal, TheInterruptKeyEndsALoopThatWaits) {
  hold("job");
  const std::string script = folder_.file("script");
  std::ofstream(script) << "for i in 1 2 3; do \"$tool\" run -v job -- true; done\n";
  Process process = start_on_terminal("bash " + script);
  ASSERT_TRUE(shows(process, "waiting")) << process.output();
  process.write("\x03");
  EXPECT_EQ(process.finish(), exited(128 + SIGINT));
}

TEST_F(OnTerminal, ASignalEndsACommandThatIsStoppedForWantOfTheTerminal) {
  for (const std::string signal : {"TERM", "HUP", "INT"}) {
    Process process = start_on_terminal("bash --norc -i");
    process.write("\"$tool\" run job -- cat &\n");
    ASSERT_TRUE(shows(process, "needs the terminal but runs in the background")) << process.output();
    process.write("kill -" + signal + " $!; wait $!; echo status=$?\n");
    ASSERT_TRUE(shows(process, "status=1")) << process.output();
    EXPECT_FALSE(raw_.exists("job"));
    process.write("exit\nexit\n");
    EXPECT_TRUE(process.finish());
  }
}

TEST_F(OnTerminal, ItsEndEndsACommandThatIsStoppedForWantOfIt) {
  Process process = start_on_terminal("bash --norc -i");
  process.write("\"$tool\" run job -- cat &\n");
  ASSERT_TRUE(shows(process, "needs the terminal but runs in the background")) << process.output();
  ASSERT_TRUE(raw_.exists("job"));
  // The window is closed.
  process.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !raw_.exists("job"); }));
}

TEST_F(OnTerminal, TheShellsEndEndsACommandThatIsStoppedForWantOfIt) {
  Process process = start_on_terminal("bash --norc -i");
  process.write("\"$tool\" run job -- cat &\n");
  ASSERT_TRUE(shows(process, "needs the terminal but runs in the background")) << process.output();
  // Too sudden for the shell to tell its jobs.
  process.write("kill -KILL $$\n");
  EXPECT_TRUE(eventually([&] { return !raw_.exists("job"); }));
  EXPECT_TRUE(process.finish());
}

TEST_F(OnTerminal, TheInterruptKeyEndsTheWait) {
  hold("job");
  Process process = start_on_terminal("\"$tool\" run -v job -- true");
  ASSERT_TRUE(shows(process, "waiting")) << process.output();
  process.write("\x03");
  EXPECT_EQ(process.finish(), exited(128 + SIGINT));
  EXPECT_EQ(owner_of("job"), kSomebody);
}

TEST_F(OnTerminal, TheSuspendKeyDoesNotSuspendTheHolder) {
  Process process = start_on_terminal("\"$tool\" run job -- sh -c \"echo ready; read line; echo got=\\$line\"");
  ASSERT_TRUE(shows(process, "ready")) << process.output();
  process.write("\x1a");
  EXPECT_TRUE(shows(process, "the command was suspended, and is continued")) << process.output();
  process.write("hello\n");
  EXPECT_TRUE(shows(process, "got=hello")) << process.output();
  EXPECT_EQ(process.finish(), exited(0));
}

TEST_F(OnTerminal, TheShellHasTheTerminalBackAfterwards) {
  Process process = start_on_terminal(
      "\"$tool\" run job -- sh -c \"kill -9 \\$\\$\"; echo ready; read line; echo got=$line; test \"$line\" = hello");
  ASSERT_TRUE(shows(process, "ready")) << process.output();
  process.write("hello\n");
  EXPECT_EQ(process.finish(), exited(0)) << process.output();
}

TEST_F(OnTerminal, BreakAsksAndObeysTheAnswer) {
  hold("job");
  Process no = start_on_terminal("\"$tool\" break job");
  ASSERT_TRUE(shows(no, "is held by " + kSomebody)) << no.output();
  ASSERT_TRUE(shows(no, "[y/N]")) << no.output();
  no.write("\n");
  EXPECT_EQ(no.finish(), exited(1));
  EXPECT_EQ(owner_of("job"), kSomebody);

  Process yes = start_on_terminal("\"$tool\" break job");
  ASSERT_TRUE(shows(yes, "[y/N]")) << yes.output();
  yes.write("y\n");
  EXPECT_EQ(yes.finish(), exited(0));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(OnTerminal, BreakTakesTheLockFromNobodyWhoHasComeSinceItAsked) {
  hold("job");
  Process process = start_on_terminal("\"$tool\" break job");
  ASSERT_TRUE(shows(process, "is held by " + kSomebody)) << process.output();
  raw_.command("DEL", "job");
  const std::string healthy = "11111111-2222-4333-8444-555555555555:1";
  hold("job", 3'600'000, healthy);
  process.write("y\n");
  EXPECT_EQ(process.finish(), exited(1));
  EXPECT_THAT(process.output(),
              HasSubstr("left alone: " + kSomebody + " does not have it any more; it is held by " + healthy));
  EXPECT_EQ(owner_of("job"), healthy);
}

TEST_F(OnTerminal, BreakSaysThatTheLockHasBecomeFreeSinceItAsked) {
  hold("job");
  Process process = start_on_terminal("\"$tool\" break job");
  ASSERT_TRUE(shows(process, "[y/N]")) << process.output();
  raw_.command("DEL", "job");
  process.write("y\n");
  EXPECT_EQ(process.finish(), exited(1));
  EXPECT_THAT(process.output(), HasSubstr(kSomebody + " does not have it any more; it is free"));
}

TEST_F(OnTerminal, BreakDoesNotAskAboutAFreeLock) {
  Process process = start_on_terminal("\"$tool\" break job");
  EXPECT_EQ(process.finish(), exited(1));
  EXPECT_THAT(process.output(), HasSubstr("is free"));
  EXPECT_THAT(process.output(), Not(HasSubstr("[y/N]")));
}

}  // namespace
}  // namespace holdfast::test::terminal_test
