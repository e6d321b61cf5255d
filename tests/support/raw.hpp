// SPDX-License-Identifier: Apache-2.0
// A look at a server that shares nothing with the library under test: plain commands over hiredis.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/resp.hpp"
#include "support/redis_server.hpp"

struct redisContext;

namespace holdfast::test {

using base::Reply;

/// Where a server is and how to log in, for connections of the tests' own.
struct Endpoint {
  std::string socket_path{};  ///< When set, host and port are not used.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string user{}, password{};

  /// The server's unix socket, with all rights, whatever url() of the server says.
  static Endpoint of(const RedisServer& server);
};

/// One connection. Not thread-safe. An error reply is a Reply; a connection that fails throws std::runtime_error.
/// After the server was restarted the next command connects again; no command is ever sent twice.
class Raw {
 public:
  explicit Raw(const RedisServer& server) : Raw(Endpoint::of(server)) {}
  explicit Raw(Endpoint endpoint, std::chrono::milliseconds timeout = std::chrono::seconds(30));
  Raw(Raw&&) noexcept;
  Raw& operator=(Raw&&) noexcept;
  ~Raw();

  /// Strings may hold any bytes; numbers are sent in decimal: `raw.command("PEXPIRE", key, 500)`.
  template <class... Args>
  Reply command(const Args&... args) {
    return send({text(args)...});
  }
  Reply send(const std::vector<std::string>& args);
  /// What the server says without being asked, as when it has too many clients.
  Reply unasked();

  std::map<std::string, std::string> hgetall(std::string_view key);
  long long pttl(std::string_view key);  ///< -2 absent, -1 without expiry
  bool exists(std::string_view key);
  std::string type(std::string_view key);  ///< `hash`, `string`, ..., `none`
  void flushall();
  /// Writes, and waits for a second: true if just so many replicas have all that the server has. On this connection:
  /// WAIT is about what its own has written.
  bool replicated(std::size_t replicas);
  /// One field of INFO; empty if there is none: `info("clients", "connected_clients")`.
  std::string info(std::string_view section, std::string_view field);
  /// How often the server has executed a command, the calls from scripts included. Lower case: `hset`.
  long long calls(std::string_view command);

 private:
  struct Closer {
    void operator()(redisContext* context) const;
  };
  static std::string text(std::string_view value) { return std::string(value); }
  template <std::integral T>
  static std::string text(T value) {
    return std::to_string(value);
  }
  void connect();
  bool dead() const;
  Reply owned(void* answer, const std::string& what);

  Endpoint endpoint_;
  std::chrono::milliseconds timeout_;
  std::unique_ptr<redisContext, Closer> context_;
};

/// For questions of a stage to servers that are up: on a busy machine an answer may take very long, and is not a
/// failure of what is tested.
inline constexpr std::chrono::seconds kBusyMachine{120};
inline Raw ask(const RedisServer& server) { return Raw(Endpoint::of(server), kBusyMachine); }

}  // namespace holdfast::test
