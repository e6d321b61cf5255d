// SPDX-License-Identifier: Apache-2.0
// What the tests of the tool share: a server, the real binary, and a look at processes from outside.
#pragma once

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"
#include "support/wait.hpp"

namespace holdfast::test {

/// How one use of the tool ended.
struct Outcome {
  std::optional<ExitStatus> status;
  std::string out;
  std::string err;
};

/// An owner as on the wire, of no process here.
inline const std::string kSomebody = "99999999-2222-4333-8444-555555555555:7";

inline ExitStatus exited(int code) { return {.code = code, .signal = 0}; }

inline ExitStatus killed_by(int signal) { return {.code = 0, .signal = signal}; }

/// True if the program is on the PATH.
inline bool installed(const std::string& program) {
  std::istringstream folders(std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// True while the process runs; a zombie does not.
inline bool runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] != 'Z' &&
         text[name_end + 2] != 'X';
}

/// Its state as the kernel's letter, `T` when stopped; 0 if there is none.
inline char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() ? text[name_end + 2] : '\0';
}

/// Whether a process still has the name of the tool, or of what runs a tool of another processor.
inline bool is_called_as_the_tool(pid_t pid) {
  std::string name;
  std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
  return name == "holdfast" || name.starts_with("qemu-");
}

/// What the tool, whose process this is, has started: the command, and its guard.
struct Children {
  pid_t command = 0;
  pid_t guard = 0;
};
/// Waits until there are both.
inline Children children_of(pid_t tool) {
  const std::string id = std::to_string(tool);
  Children found;
  EXPECT_TRUE(eventually([&] {
    found = {};
    std::ifstream file("/proc/" + id + "/task/" + id + "/children");
    for (pid_t pid = 0; file >> pid;) {
      std::string name;
      std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
      // A new one still has the tool's.
      if (runs(pid) && !is_called_as_the_tool(pid)) (name == "holdfast-guard" ? found.guard : found.command) = pid;
    }
    return found.command != 0 && found.guard != 0;
  }));
  return found;
}

class CliTest : public testing::Test {
 protected:
  explicit CliTest(ServerOptions options = {}) : server_(std::move(options)), raw_(server_) {}

  static std::string tool() { return tool_path(); }

  /// The environment of a tool: the server, and nothing of the caller's own settings.
  std::vector<std::string> environment() const {
    return {"HOLDFAST_URL=" + url_, "HOLDFAST_URL_FILE", "HOLDFAST_PASSWORD", "HOLDFAST_PASSWORD_FILE"};
  }

  /// Starts the tool.
  Process start(std::vector<std::string> args, std::vector<std::string> env = {}) const {
    return start_program(tool(), std::move(args), std::move(env));
  }
  /// Starts a line of shell, in which `$tool` is the tool.
  Process start_shell(const std::string& line) const {
    // SHELL: what script starts, the same on every machine; bash outlives an interrupt that its child handles, dash
    // not.
    return start_program("/bin/sh", {"-c", line}, {"tool=" + tool(), "SHELL=/bin/sh"});
  }
  /// Starts the tool and waits for its end.
  Outcome use(std::vector<std::string> args, std::vector<std::string> env = {}) const {
    Process process = start(std::move(args), std::move(env));
    process.close_stdin();
    return finish(process);
  }
  static Outcome finish(Process& process) {
    const std::optional<ExitStatus> status = process.finish();
    return {status, process.output(), process.errors()};
  }

  /// The next line of the command's output as a process id.
  static pid_t read_pid(Process& process) {
    const std::optional<std::string> line = process.read_line();
    EXPECT_TRUE(line) << process.errors();
    return line ? static_cast<pid_t>(std::stol(*line)) : 0;
  }

  /// A `run -v` whose command says "started" and reads a line: it is renewed five times, and ends well.
  void expect_renewals(Process& process, const std::string& name) {
    ASSERT_EQ(process.read_line(), "started");
    for (int i = 0; i < 5; ++i) {
      std::optional<std::string> line = process.read_error_line();
      while (line && *line != "holdfast: lock \"" + name + "\" renewed") line = process.read_error_line();
      ASSERT_TRUE(line) << process.errors();
      ASSERT_TRUE(raw_.exists(name));
    }
    process.write_line("");
    EXPECT_EQ(finish(process).status, exited(0));
  }

  /// The owner of a lock as it stands on the server; empty if it is free.
  std::string owner_of(const std::string& name) {
    const auto fields = raw_.hgetall(name);
    return fields.empty() ? "" : fields.begin()->first;
  }

  /// Puts a lock of somebody else on the server.
  void hold(const std::string& name, long long ms = 3'600'000, const std::string& owner = kSomebody) {
    raw_.command("HSET", name, owner, 1);
    raw_.command("PEXPIRE", name, ms);
  }

  RedisServer server_;
  Raw raw_;
  TempDir folder_;
  std::string url_ = server_.url();

 private:
  Process start_program(const std::string& program, std::vector<std::string> args, std::vector<std::string> env) const {
    ProcessOptions options;
    options.env = environment();
    options.env.insert(options.env.end(), env.begin(), env.end());
    return Process(program, std::move(args), std::move(options));
  }
};

}  // namespace holdfast::test
