// SPDX-License-Identifier: Apache-2.0
// What the tests of `local:` share: a runtime folder of their own, and what calls come to there.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "support/process.hpp"
#include "support/raw.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"
#include "support/wait.hpp"
#include "testing/server_start.hpp"

namespace holdfast::test {

namespace fs = std::filesystem;

inline std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();  // which bears a process in /proc that ends meanwhile; an iterator would throw
  return out.str();
}

/// What a call came to: the socket's path, or `<error code's message> | <text>`.
inline std::string outcome() {
  try {
    return private_server::ensure_local_server();
  } catch (const Error& error) {
    return error.code().message() + " | " + error.what();
  }
}

/// A call in a child process, which may change its environment before.
class LocalCaller {
 public:
  explicit LocalCaller(const std::function<void()>& before = {}) {
    auto [from, to] = make_pipe();
    pid_ = fork();
    if (pid_ == 0) {
      if (before) before();
      const std::string text = outcome();
      const bool written = write(to.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
      _exit(written ? 0 : 1);
    }
    result_ = std::move(from);
  }
  LocalCaller(LocalCaller&&) = delete;
  ~LocalCaller() {
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  std::string result() {
    std::string text;
    char buffer[1024];
    for (ssize_t got = 0; (got = read(result_.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  pid_t pid_ = -1;
  Fd result_;
};

class LocalServer : public testing::Test {
 protected:
  LocalServer() { use_runtime_dir(dir_.path().string()); }
  ~LocalServer() override {
    for (const pid_t pid : servers()) kill(pid, SIGKILL);
    EXPECT_TRUE(eventually([&] { return servers().empty(); }));
    if (saved_) {
      setenv("XDG_RUNTIME_DIR", saved_->c_str(), 1);
    } else {
      unsetenv("XDG_RUNTIME_DIR");
    }
  }

  void use_runtime_dir(const std::string& path) { setenv("XDG_RUNTIME_DIR", path.c_str(), 1); }
  fs::path folder() const { return dir_.path() / "holdfast"; }
  std::string socket() const { return (folder() / "redis.sock").string(); }
  Raw raw() const { return Raw(Endpoint{.socket_path = socket()}); }
  /// The pid of the server that answers on the socket.
  pid_t answering() const { return std::stoi(raw().info("server", "process_id")); }

  /// All processes that name this test's folder in their command line or run in it: whatever `local:` has started.
  std::vector<pid_t> servers() const {
    std::vector<pid_t> found;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::error_code gone;
      const std::string traces =
          contents(entry.path() / "cmdline") + fs::read_symlink(entry.path() / "cwd", gone).string();
      if (traces.find(dir_.path().string()) != std::string::npos) found.push_back(std::stoi(name));
    }
    return found;
  }

  /// A folder for PATH with a program of this name in it, made by a shell script.
  std::string path_with(const std::string& program, const std::string& script) {
    const fs::path bin = dir_.path() / "bin";
    fs::create_directories(bin);
    std::ofstream(bin / program) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(bin / program, fs::perms::owner_all);
    return bin.string();
  }

  TempDir dir_;

 private:
  std::optional<std::string> saved_ =
      std::getenv("XDG_RUNTIME_DIR") ? std::optional<std::string>(std::getenv("XDG_RUNTIME_DIR")) : std::nullopt;
};

}  // namespace holdfast::test
