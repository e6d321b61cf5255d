// SPDX-License-Identifier: Apache-2.0
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
  /// The only line that has this in it.
  static std::string line_with(const std::string& part) {
    std::string found;
    for (const std::string& line : lines()) {
      if (line.find(part) == line.npos) continue;
      EXPECT_EQ(found, "") << part;
      found = line;
    }
    EXPECT_NE(found, "") << part;
    return found;
  }
  /// The command of a line of a crontab, behind its five fields.
  static std::string cron_command(const std::string& job) {
    std::istringstream words(line_with(" -- /usr/local/bin/" + job));
    std::string rest;
    for (int i = 0; i < 5; ++i) {
      words >> rest;
      EXPECT_EQ(rest.find_first_not_of("0123456789*/"), rest.npos) << rest;
    }
    std::getline(words >> std::ws, rest);
    return rest;
  }
  /// A program that does so much, and says in a log that it has run. Returns where it is.
  std::string program(const std::string& name, const std::string& line) const {
    const std::string file = folder_.file(name);
    std::ofstream(file) << "#!/bin/sh\necho done >>" << log_ << "\n" << line << "\n";
    EXPECT_EQ(chmod(file.c_str(), 0755), 0);
    return file;
  }
  /// What all of them have said; it is forgotten.
  std::string take_log() const {
    std::ifstream file(log_);
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::ofstream(log_, std::ios::trunc).close();
    return text;
  }
  /// The line in a shell that has the tool in its path, and stands in the folder of the programs.
  Process start_line(const std::string& line) {
    return start_shell("cd '" + folder_.file("") + "'; PATH=\"${tool%/*}:$PATH\"; " + line);
  }
  /// Starts it on that many machines at once, and waits for all.
  void use_on_machines(int machines, const std::string& line) {
    std::vector<Process> all;
    for (int machine = 0; machine < machines; ++machine) all.push_back(start_line(line));
    for (Process& machine : all) {
      const Outcome outcome = finish(machine);
      EXPECT_EQ(outcome.status, exited(0)) << line << outcome.err;
    }
  }
  /// From the line that begins its first section to the one that ends its last.
  static std::vector<std::string> unit_file() {
    std::vector<std::string> all = lines();
    const auto begin = std::ranges::find(all, "[Unit]");
    const auto end = std::find(std::find(begin, all.end(), "[Install]"), all.end(), "");
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

  const std::string log_ = folder_.file("log");
};

/// Their clocks differ, so one after the other begins, some while the job is under way and most when it is over.
TEST_F(Recipes, TheCronJobIsDoneOnceByTwentyMachinesWhoseClocksDiffer) {
  constexpr int kMachines = 20;
  const std::string line = with(cron_command("backup"), "/usr/local/bin/backup", program("backup", "sleep 0.05"));
  std::vector<Process> machines;
  for (int machine = 0; machine < kMachines; ++machine) {
    machines.push_back(start_line(line));
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  for (Process& machine : machines) {
    const Outcome outcome = finish(machine);
    EXPECT_EQ(outcome.status, exited(0)) << line;
    EXPECT_EQ(outcome.out + outcome.err, "") << "cron would send it by mail";
  }
  EXPECT_EQ(take_log(), "done\n");
}

TEST_F(Recipes, TheCronJobThatIsTriedEachHourIsDoneAgainOnlyIfItFailed) {
  const std::string line = cron_command("report");
  Process failing = start_line(with(line, "/usr/local/bin/report", program("failing", "exit 1")));
  EXPECT_EQ(finish(failing).status, exited(1));
  EXPECT_EQ(take_log(), "done\n");
  const std::string good = with(line, "/usr/local/bin/report", program("report", "true"));
  use_on_machines(1, good);
  EXPECT_EQ(take_log(), "done\n");
  use_on_machines(5, good);
  EXPECT_EQ(take_log(), "");
}

TEST_F(Recipes, TheCronJobOfEachFiringIsDoneOnceForEach) {
  const std::string line = with(cron_command("sync"), "/usr/local/bin/sync", program("sync", "true"));
  // The minute may change meanwhile, which cannot happen to one that has been said.
  for (const char* minute : {"2020-11-23T02:00", "2020-11-23T02:05"}) {
    const std::string at_its_minute = with(line, "--at now", std::string("--at ") + minute);
    // Without the ten seconds in which the name stays taken.
    use_on_machines(5, with(at_its_minute, "--at-least 10s", ""));
    EXPECT_EQ(take_log(), "done\n");
  }
  use_on_machines(1, with(line, "--at-least 10s", "--at-least 10ms"));
  EXPECT_EQ(take_log(), "done\n");
}

TEST_F(Recipes, TheServiceOfATimerIsDoneOnceForEachFiring) {
  const std::string start = line_with("-- /usr/bin/cleanup");
  ASSERT_TRUE(start.starts_with("ExecStart=")) << start;
  std::string line = with(start.substr(start.find('=') + 1), "/usr/bin/cleanup", program("cleanup", "true"));
  line = with(line, "/usr/bin/holdfast", "holdfast");
  use_on_machines(1, line);
  EXPECT_EQ(take_log(), "done\n");
  use_on_machines(5, with(line, "--at now", "--at 2020-11-23T04:00"));
  EXPECT_EQ(take_log(), "done\n");
}

TEST_F(Recipes, SystemdReadsTheTimerWithoutAWarning) {
  if (access("/usr/bin/systemd-analyze", X_OK) != 0) GTEST_SKIP() << "no systemd-analyze";
  Process process = start_shell("exec systemd-analyze calendar '" + [] {
    const std::string line = line_with("OnCalendar=");
    return line.substr(line.find('=') + 1);
  }() + "'");
  EXPECT_EQ(finish(process).status, exited(0));
}

TEST_F(Recipes, TheCronJobOfKubernetesIsDoneOnceHoweverManyPodsThereAre) {
  std::string line = line_with("command: [");
  line = line.substr(line.find('[') + 1);
  line = line.substr(0, line.find(']'));
  std::erase(line, ',');  // a flow sequence of plain words
  use_on_machines(5, with(line, "/usr/local/bin/backup", program("backup", "true")));
  EXPECT_EQ(take_log(), "done\n");
}

TEST_F(Recipes, TheStepsOfCiDoWhatTheySay) {
  std::ofstream(folder_.file("toolchain.lock")) << "gcc 12\n";
  for (const char* name : {"deploy", "integration-tests", "build-toolchain"}) program(name, "true");
  use_on_machines(3, line_with("-- ./deploy"));
  EXPECT_EQ(take_log(), "done\ndone\ndone\n");
  use_on_machines(3, line_with("-- ./integration-tests"));
  EXPECT_EQ(take_log(), "done\ndone\ndone\n");
  EXPECT_EQ(raw_.command("GET", "integration-tests").text, "2");
  const std::string build = line_with("-- ./build-toolchain");
  use_on_machines(3, build);
  EXPECT_EQ(take_log(), "done\n");
  std::ofstream(folder_.file("toolchain.lock")) << "gcc 14\n";
  use_on_machines(3, build);
  EXPECT_EQ(take_log(), "done\n") << "another input";
}

TEST_F(Recipes, ThatOfTheReportGoesToItsDescriptor) {
  program("make", "true");
  Process process = start_line("PATH=.:$PATH; " + line_with("--status-fd 3"));
  EXPECT_EQ(finish(process).status, exited(0));
  std::ifstream report(folder_.file("report-status.json"));
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(report), {}), HasSubstr("\"exit_code\":0"));
}

/// Those that run a command; what else is tested elsewhere.
TEST_F(Recipes, EachLineThatRunsSomethingIsTestedHere) {
  int found = 0;
  for (const std::string& line : lines()) {
    const bool words = line.find("holdfast run ") != line.npos || line.find("holdfast elect ") != line.npos ||
                       line.find("[holdfast, run,") != line.npos;
    if (words && !line.starts_with("#")) ++found;
  }
  EXPECT_EQ(found, 11) << "one more, or one less: test it, or do not";
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
