// SPDX-License-Identifier: Apache-2.0
// Every failure that the table of failures (src/redis/decide/errors.cpp) knows, read from there, so that a new row is
// tested without another word; and a server that answers attempts with one of them until it is told to grant.
#pragma once

#include <cctype>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <mutex>
#include <regex>
#include <string>
#include <vector>

#include "support/made_up_node.hpp"
#include "support/paths.hpp"

namespace holdfast::test {

struct KnownFailure {
  std::string text;  ///< As the server says it.
  std::string code;  ///< The name of its Errc, at a single server.
  bool passes;       ///< Whoever promises to go on goes on.
  /// An acquire that waits without a limit does so too, for `patience`.
  bool borne;
};

inline std::vector<KnownFailure> known_failures() {
  std::ifstream file(source_path("src/redis/decide/errors.cpp"));
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  static const std::regex row(R"re(\{"([^"]+)",\s*Errc::([a-z_]+),\s*Fate::([a-z]+))re");
  std::vector<KnownFailure> all;
  for (auto each = std::sregex_iterator(source.begin(), source.end(), row); each != std::sregex_iterator(); ++each) {
    const std::string what = (*each)[1], code = (*each)[2], fate = (*each)[3];
    bool is_code = true;
    for (const char letter : what) is_code = is_code && std::isupper(static_cast<unsigned char>(letter)) != 0;
    const std::string text = is_code ? what + " it is said" : "ERR " + what;
    // A single server that redirects is a node of a cluster, and its URL is wrong.
    if (what == "MOVED" || what == "ASK") {
      all.push_back({what + " 1 127.0.0.1:1", "unsupported_by_server", false, false});
    } else {
      // Without another address, whoever has never got a lock from a replica has the wrong one.
      all.push_back(
          {text, code, fate == "transient" || code == "out_of_memory", fate == "transient" && code != "read_only"});
    }
  }
  all.push_back({"ERR nobody knows this", "server_error", false, false});
  all.push_back({"ERR nobody knows this script: f_1, on @user_script:1.", "server_error", false, false});
  return all;
}

/// Its locks are fenced ones.
class FailingServer {
 public:
  explicit FailingServer(std::string failure) : failure_(std::move(failure)) {}

  std::string url() const { return "redis://" + node_.address(); }
  void grant() { fail({}); }
  void fail(std::string failure) {
    const std::scoped_lock guard(mutex_);
    failure_ = std::move(failure);
  }

 private:
  std::string answer(const MadeUpNode::Command& command) {
    if (command.front() != "EVALSHA" && command.front() != "EVAL") return "+OK\r\n";
    const std::scoped_lock guard(mutex_);
    if (!failure_.empty()) return "-" + failure_ + "\r\n";
    const bool acquires = command.size() > 2 && command[2] == "2";
    return acquires ? as_array({as_number(-1), as_number(++token_)}) : as_number(0);
  }

  std::mutex mutex_;
  std::string failure_;     // guarded by mutex_; empty: it grants
  std::int64_t token_ = 0;  // guarded by mutex_
  MadeUpNode node_{[this](const MadeUpNode::Command& command) { return answer(command); }};
};

}  // namespace holdfast::test
