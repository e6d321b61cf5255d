// The tool on a terminal: `script` gives it one whose keys the test presses.
#include <thread>

#include "cli_fixture.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class OnTerminal : public CliTest {
 protected:
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

TEST_F(OnTerminal, BreakDoesNotAskAboutAFreeLock) {
  Process process = start_on_terminal("\"$tool\" break job");
  EXPECT_EQ(process.finish(), exited(1));
  EXPECT_THAT(process.output(), HasSubstr("is free"));
  EXPECT_THAT(process.output(), Not(HasSubstr("[y/N]")));
}

}  // namespace
}  // namespace holdfast::test
