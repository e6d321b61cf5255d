// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL of a test's own, on a unix socket, and its psql.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test {

class Postgres {
 public:
  /// Empty: it is not installed.
  static std::string program(const std::string& name) {
    std::vector<std::filesystem::path> folders{"/usr/local/bin", "/usr/bin"};
    std::error_code none;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
      folders.push_back(version.path() / "bin");
    }
    for (const std::filesystem::path& folder : folders) {
      if (access((folder / name).c_str(), X_OK) == 0) return (folder / name).string();
    }
    return {};
  }
  static bool is_installed() {
    return !program("initdb").empty() && !program("postgres").empty() && !program("psql").empty();
  }

  Postgres() {
    // It does not run as root.
    if (geteuid() == 0 && chown(folder_.path().c_str(), kNobody, kNobody) != 0) {
      throw std::runtime_error("cannot give the folder away");
    }
    const std::string data = folder_.file("data");
    Process made = as_nobody({program("initdb"), "-D", data, "-U", "fence", "-A", "trust", "--no-sync"});
    if (made.finish() != ExitStatus{}) throw std::runtime_error("initdb: " + made.errors());
    server_.emplace(as_nobody({program("postgres"), "-D", data, "-k", folder_.path().string(), "-c",
                               "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=1MB"}));
    const auto is_up = [this] { return ask("SELECT 1;") == "1\n"; };
    if (!eventually(is_up)) throw std::runtime_error("postgres: " + server_->errors());
  }

  /// A psql and its arguments. Words are VARIABLE=VALUE.
  std::vector<std::string> psql_words(const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> words{program("psql"), "-X", "-A", "-t", "-h", folder_.path().string()};
    words.insert(words.end(), {"-U", "fence", "-d", "postgres"});
    for (const std::string& each : variables) words.insert(words.end(), {"-v", each});
    return words;
  }
  /// What is written to it is executed line by line.
  Process psql(const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> words = psql_words(variables);
    const std::string first = words.front();
    words.erase(words.begin());
    return {first, words};
  }
  /// What it says to that, or whatever it could not do.
  std::string ask(const std::string& sql, const std::vector<std::string>& variables = {}) const {
    Process client = psql(variables);
    client.write_line(sql);
    client.close_stdin();
    client.finish();
    return client.output() + client.errors();
  }

 private:
  static constexpr uid_t kNobody = 65534;

  static Process as_nobody(std::vector<std::string> words) {
    const std::string number = std::to_string(kNobody);
    if (geteuid() == 0) {
      words.insert(words.begin(), {"setpriv", "--reuid", number, "--regid", number, "--clear-groups"});
    }
    const std::string first = words.front();
    words.erase(words.begin());
    return {first, words, {.working_dir = "/"}};
  }

  const TempDir folder_;
  std::optional<Process> server_;
};

}  // namespace holdfast::test
