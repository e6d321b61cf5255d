// SPDX-License-Identifier: Apache-2.0
// A fault proxy: stands between a client and a server and misbehaves on demand.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "support/network_namespace.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

/// Forwards bytes between clients and a RedisServer in a thread of its own. Thread-safe; a fault is in force when its
/// method returns. Bytes are searched as they pass, so over TLS only faults without a search text work.
class Proxy {
 public:
  enum class Listen { tcp, unix_socket };
  enum class Direction { to_server, to_client };

  explicit Proxy(const RedisServer& server, Listen listen = Listen::tcp);
  /// In another network, at the server's own address. The network outlives it.
  Proxy(const RedisServer& server, const NetworkNamespace& network);
  ~Proxy();

  /// As the server's url(), but to the proxy.
  std::string url() const;
  std::uint16_t port() const;              ///< 0 for a unix socket.
  const std::string& socket_path() const;  ///< Empty for tcp.

  /// Closes all connections now, both sides.
  void cut();
  /// The next request that contains this text reaches the server and is executed; its client sees the connection
  /// closed instead of the reply. One shot; see fired().
  void cut_after_next_request(std::string text);
  /// The next request that contains this text is closed towards its client before the server has it. The bytes are
  /// kept, and the old connection to the server stays open, as if they were still under way. One shot; see fired().
  void hold_next_request(std::string text);
  /// Gives the bytes kept by hold_next_request to the server on the connection they were sent on. True if the server
  /// took and processed them; false if it has closed that connection meanwhile (CLIENT KILL, restart), or none is held.
  bool deliver_held();

  /// A black hole: bytes in this direction are swallowed while on. Switching it off closes the connections that have
  /// lost bytes, since a stream has no gaps.
  void drop_requests(bool on);
  void drop_replies(bool on);
  /// Bytes in this direction arrive this much later; zero ends it for bytes that come from now on.
  void delay(Direction direction, std::chrono::milliseconds by);
  /// What befalls all that passes, at random, from now on. The first portions of a connection, which log in, are spared
  /// most of it.
  struct Weather {
    int lost = 0;  ///< So many in a thousand portions of replies: the connection is closed instead.
    int late = 0;  ///< So many in a thousand requests reach the server after their client saw the connection closed.
    std::chrono::milliseconds late_by{};  ///< At most.
    std::chrono::milliseconds delay{};  ///< Every third portion is delayed by up to this: connections overtake others.
    std::uint64_t seed = 1;
  };
  void set_weather(const Weather& weather);
  /// On: new connections are refused. Open ones stay (see cut()).
  void refuse(bool on);

  /// How many one-shot faults have happened.
  std::size_t fired() const;
  /// How many connections have been accepted so far.
  std::size_t accepted() const;
  /// How many clients are connected now.
  std::size_t connected() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace holdfast::test
