// SPDX-License-Identifier: Apache-2.0
// A lane: one connection to one server, with login, reconnection, time limits and pushes. Knows no locks.
#pragma once

#include <memory>
#include <string>
#include <system_error>

#include <holdfast/config.hpp>

#include "loop/alarm.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/resolver.hpp"
#include "redis/connection/subscriptions.hpp"

namespace holdfast::redis {

struct Link;

/// Commands wait at a gate until the login has succeeded, so nothing runs in a wrong database, or before the lane's
/// earlier connection has been killed by its client id: bytes still under way on that one cannot take effect after
/// later ones. A command sent on a lost connection is `unknown` and is not resent here. Its inside is a
/// `Link`: a `Connection` and, above it, a `Pipeline` of requests.
/// Everything on the loop. The loop calls `flush` after each handler, or when many bytes are `to_be_flushed`, so that
/// the output of one batch of work leaves in one write, or in few.
class Lane {
 public:
  using Handler = ResultHandler;

  Lane(timing::Schedule& schedule, const Config& config, std::shared_ptr<EndpointSource> source,
       Subscriptions& subscriptions, LaneEvents& events);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Connects. If there is an owner, handlers keep it alive, and it keeps this lane alive. Otherwise they keep only the
  /// lane's own state alive.
  void start(std::weak_ptr<void> owner);
  /// The same, but it connects only when something is sent.
  void start_at_rest(std::weak_ptr<void> owner);
  /// Whether to stay connected without requests. If not, the session ends when everything is answered, and the next one
  /// begins when something is sent.
  void set_needed(bool needed);
  /// It has no connection, and no request waits for one.
  bool at_rest() const;
  /// At rest: from now on for another server.
  void begin_anew();
  /// Passes the requests that wait for a connection to `misdirected`.
  void reroute();
  /// Fails the requests that wait for a connection with this reason.
  void refuse_waiting(std::error_code error, const std::string& cause);
  /// The handler runs exactly once, within about the request's timeout, possibly at once. If memory runs out, the
  /// command is `not_sent`. Exceptions of handlers are ignored.
  void send(Request&& request, Handler&& handler);
  void flush();
  /// The socket that replies arrive on, or -1 while there is no connection.
  int socket() const;
  /// The server that is or was last connected, as text; empty: unknown.
  std::string server() const;
  /// The same as an address; null: unknown.
  const Endpoint* endpoint() const;
  /// Its server speaks RESP2, and so reports no changed keys.
  bool speaks_resp2() const;
  /// A handler has thrown, perhaps half way through: starts with a new connection.
  void recover();
  /// Fails all pending requests with Errc::closed and closes the connection.
  void close();
  bool closed() const;
  /// The loop is gone: drops all pending requests without calling their handlers.
  void drop_all();

 private:
  const std::shared_ptr<Link> link_;
};

}  // namespace holdfast::redis
