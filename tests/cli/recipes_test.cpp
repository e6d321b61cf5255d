// The recipes of docs/cli.md are what they say: they are read from there, and run.
#include <algorithm>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "cli_fixture.hpp"
#include "support/paths.hpp"

namespace holdfast::test::recipes_test {
namespace {

using testing::HasSubstr;

class Recipes : public CliTest {
 protected:
  /// The lines of the section, without the indent of code.
  static std::vector<std::string> lines() {
    std::ifstream file(source_path("docs/cli.md"));
    std::vector<std::string> found;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("## ")) inside = line == "## Recipes";
      if (inside) found.push_back(line.starts_with("    ") ? line.substr(4) : line);
    }
    return found;
  }
  /// The command of the line of a crontab, behind its five fields.
  static std::string cron_command() {
    for (const std::string& line : lines()) {
      std::istringstream words(line);
      std::string minute, hour, rest;
      if (!(words >> minute >> hour) || hour.find_first_not_of("0123456789") != hour.npos || minute != "0") continue;
      for (int i = 0; i < 3; ++i) words >> rest;
      std::getline(words >> std::ws, rest);
      return rest;
    }
    ADD_FAILURE() << "there is no line of a crontab";
    return {};
  }
  /// From the line that begins its first section to the one that ends its last.
  static std::vector<std::string> unit_file() {
    std::vector<std::string> all = lines();
    const auto begin = std::ranges::find(all, "[Unit]");
    const auto end = std::find(std::ranges::find(all, "[Install]"), all.end(), "");
    EXPECT_TRUE(begin < end);
    return {begin, end};
  }
  static std::string setting(const std::string& name) {
    for (const std::string& line : unit_file()) {
      if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    }
    return {};
  }
  static std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from << " in " << text;
    return at == text.npos ? text : text.replace(at, from.size(), to);
  }
};

/// Their clocks differ, so one after the other begins, some while the job is under way and most when it is over.
TEST_F(Recipes, TheCronJobIsDoneOnceByTwentyMachinesWhoseClocksDiffer) {
  constexpr int kMachines = 20;
  const std::string log = folder_.file("log");
  const std::string job = folder_.file("backup");
  std::ofstream(job) << "#!/bin/sh\necho done >>" << log << "\nsleep 0.05\n";
  ASSERT_EQ(chmod(job.c_str(), 0755), 0);
  const std::string line = with(cron_command(), "/usr/local/bin/backup", job);
  std::vector<Process> machines;
  for (int machine = 0; machine < kMachines; ++machine) {
    machines.push_back(start_shell("PATH=\"${tool%/*}:$PATH\"; " + line));
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  for (Process& machine : machines) {
    const Outcome outcome = finish(machine);
    EXPECT_EQ(outcome.status, exited(0)) << line;
    EXPECT_EQ(outcome.out + outcome.err, "") << "cron would send it by mail";
  }
  std::ifstream file(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "done\n");
}

TEST_F(Recipes, TheUnitIsRestartedForGood) {
  EXPECT_EQ(setting("Restart"), "always");
  // systemd's defaults: after five starts within ten seconds it starts it no more.
  const std::string pause = setting("RestartSec");
  ASSERT_NE(pause, "");
  EXPECT_GT(4 * std::stod(pause), 10.0) << pause;
}

TEST_F(Recipes, TheUnitRunsItsCommandUnderTheLock) {
  const std::string command = folder_.file("worker");
  std::ofstream(command) << "#!/bin/sh\necho working\n";
  ASSERT_EQ(chmod(command.c_str(), 0755), 0);
  std::string line = with(setting("ExecStart"), "/usr/bin/billing-worker", command);
  line = with(line, "/usr/bin/holdfast", tool());
  EXPECT_THAT(setting("Environment"), HasSubstr("HOLDFAST_URL=redis://"));
  Process process = start_shell(line);
  EXPECT_EQ(finish(process).out, "working\n");
}

TEST_F(Recipes, OfTheUnitWithAStandbyOneIsActive) {
  std::string line;
  for (const std::string& each : lines()) {
    if (each.starts_with("ExecStart=/usr/bin/holdfast elect")) line = each.substr(each.find('=') + 1);
  }
  const std::string command = folder_.file("scheduler");
  std::ofstream(command) << "#!/bin/sh\necho $HOLDFAST_TOKEN; exec sleep 1000\n";
  ASSERT_EQ(chmod(command.c_str(), 0755), 0);
  line = "exec " + with(with(line, "/usr/bin/scheduler", command), "/usr/bin/holdfast", tool());
  Process first = start_shell(line);
  ASSERT_EQ(first.read_line(), "1");
  Process second = start_shell(line);
  ASSERT_TRUE(eventually([&] { return raw_.command("PUBSUB", "CHANNELS").elements.size() == 1; }));
  EXPECT_EQ(second.output(), "");
  first.signal(SIGTERM);
  EXPECT_EQ(second.read_line(), "2");
}

TEST_F(Recipes, SystemdReadsTheUnitWithoutAWarning) {
  if (access("/usr/bin/systemd-analyze", X_OK) != 0) GTEST_SKIP() << "no systemd-analyze";
  const std::string file = folder_.file("billing-worker.service");
  std::ofstream out(file);
  for (std::string line : unit_file()) {
    // What is not installed here would be a warning.
    if (line.starts_with("ExecStart=")) line = "ExecStart=/bin/sh -c true";
    out << line << "\n";
  }
  out.close();
  Process process = start_shell("exec systemd-analyze verify --man=no '" + file + "'");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("billing-worker.service:")));
}

}  // namespace
}  // namespace holdfast::test::recipes_test
