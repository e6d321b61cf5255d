// SPDX-License-Identifier: Apache-2.0
// A real redis-server (or valkey-server) in a folder of its own, for one test.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "support/certificates.hpp"
#include "support/port_lease.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test {

class RedisServer;

struct ServerOptions {
  enum class Listen { unix_socket, tcp, tls };
  Listen listen = Listen::unix_socket;  ///< What url() points to. Every server also has its unix socket.
  bool ask_client_certificate = false;  ///< With tls: clients without a trusted certificate are refused.
  std::string password{};               ///< Of the default user (`requirepass`).
  /// ACL users as in redis.conf after the word `user`: `app on >secret ~lock:* &* +eval`. `default off` is fine too.
  std::vector<std::string> users{};
  std::string maxmemory{};                  ///< For example `1mb`, with `noeviction`.
  const RedisServer* replica_of = nullptr;  ///< A server that listens on tcp and outlives this one.
  bool persistent = false;                  ///< Every write is on disk before its reply: restarts can keep the data.
  /// `{"EVAL", ""}` takes the command away, `{"EVAL", "X"}` renames it.
  std::vector<std::pair<std::string, std::string>> renamed_commands{};
  bool cluster = false;  ///< One node that serves all slots; listens on tcp.
  /// A node of a cluster: as it comes it knows no other and has no slots. Who it is outlives every restart.
  bool cluster_member = false;
  bool sentinel = false;  ///< A Sentinel, configured by `config`.
  /// With tls: these, instead of some made for this server alone. Their files outlive it.
  std::optional<Certificates> certificates{};
  std::vector<std::string> config{};       ///< Further lines of redis.conf.
  std::vector<std::string> environment{};  ///< As ProcessOptions::env.
};

/// What a restart does to the data.
enum class Data { keep, lose };

/// With HOLDFAST_TEST_RESP2 in the environment all of them know no HELLO, so that everybody speaks RESP2 with them.
/// Starts at construction and answers PING when the constructor returns. The destructor kills it and removes its
/// folder. Safe to use in many test processes at the same time; in a child made by fork() the destructor does nothing.
class RedisServer {
 public:
  explicit RedisServer(ServerOptions options = {});
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  /// `unix:///path`, `redis://127.0.0.1:port` or `rediss://localhost:port?ca_file=...` (with the client certificate,
  /// if the server asks for one). Never a user or password.
  std::string url() const;
  /// The same with a login; for tcp and tls. An empty user leaves the default user.
  std::string url(const std::string& user, const std::string& password) const;
  /// The same address for another port, for example that of a proxy in front; with a login unless both are empty.
  std::string url_with_port(std::uint16_t port, const std::string& user = {}, const std::string& password = {}) const;

  const ServerOptions& options() const { return options_; }
  /// The port that url() names; 0 for a server on a unix socket.
  std::uint16_t port() const { return port_ ? port_->port() : std::uint16_t{0}; }
  /// Where other nodes of a cluster talk to it.
  std::uint16_t bus_port() const { return bus_port_ ? bus_port_->port() : static_cast<std::uint16_t>(port() + 10000); }
  const std::string& socket_path() const { return socket_path_; }
  const Certificates& certificates() const { return certificates_; }
  pid_t pid() const;
  /// It was started, and not stopped, killed or frozen since.
  bool up() const { return process_.has_value() && !frozen_; }
  /// What it has logged so far.
  std::string log() const;
  /// Where its data are.
  std::string data_folder() const { return folder_.file("data"); }
  /// The user and password with all rights that support code logs in with; both empty if no login is needed.
  const std::string& admin_user() const { return admin_user_; }
  const std::string& admin_password() const { return admin_password_; }

  void stop();    ///< Gracefully, as by SHUTDOWN; returns when it is gone.
  void kill();    ///< SIGKILL; returns when it is gone.
  void freeze();  ///< SIGSTOP; returns when it has stopped.
  void thaw();    ///< SIGCONT.
  /// Stops it if it runs, and starts it again on the same port and socket; PING works when this returns.
  /// Data::keep needs ServerOptions::persistent (and also works after kill()).
  void restart(Data data);

 private:
  void write_config();
  void start();
  void wait_until_ready();

  ServerOptions options_;
  TempDir folder_;
  std::unique_ptr<PortLease> port_;
  std::unique_ptr<PortLease> bus_port_;
  std::string socket_path_;
  std::string admin_user_, admin_password_;
  Certificates certificates_;
  std::optional<Process> process_;
  bool frozen_ = false;
};

}  // namespace holdfast::test
