// SPDX-License-Identifier: Apache-2.0
// What can be done to one server that locks are on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chaos/ground.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::chaos {

/// A server and its clock, its disk, and the rights of its users. Not thread-safe.
class StruckServer {
 public:
  static constexpr const char* kUser = "app";
  static constexpr const char* kPassword = "secret";

  explicit StruckServer(ServerOptions::Listen listen = ServerOptions::Listen::tcp);

  /// What works on this machine. `why`: why others do not.
  static std::vector<Fault> possible(std::vector<std::string>* why = nullptr);
  /// The same, and what can happen to processes that reach it by links of their own.
  static std::vector<Fault> faults_with_links();
  /// Returns when it is over. Of the names a lock that is to be broken is one.
  Struck strike(const Planned& planned, const std::vector<Named>& names);

  RedisServer& server() const { return *server_; }
  /// Through this port, with the login of its users.
  std::string url(std::uint16_t port) const { return server_->url_with_port(port, kUser, kPassword); }

 private:
  void strike(const Planned& planned);
  void command(const std::vector<std::string>& words);
  void set_clock(Milliseconds offset);
  void fill_disk(Milliseconds duration);
  void go_back(Milliseconds snapshot_age);
  void renew_certificate();

  TempDir clock_folder_, certificates_folder_;
  std::unique_ptr<RedisServer> server_;
};

/// Breaks one of these locks by force.
Struck force(const std::string& url, const Planned& planned, const std::vector<Named>& names);

/// The program that moves a server's clock; empty if it was not built.
std::string moved_clock();

/// True after the servers' folders were put on a small disk of their own, in memory; that needs the right to mount. For
/// the beginning of a program, before any thread. `why`: why not.
bool use_small_disk(std::string& why);
bool on_small_disk();

}  // namespace holdfast::test::chaos
