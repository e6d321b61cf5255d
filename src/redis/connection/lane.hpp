// A lane: one connection to one server, with login, reconnection, time limits and pushes. Knows no locks.
#pragma once

#include <memory>
#include <string>
#include <system_error>

#include <holdfast/config.hpp>

#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/lane_events.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/resolver.hpp"
#include "redis/connection/subscriptions.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// Commands wait at a gate until the login on a connection is through, so nothing runs in a wrong database or before
/// an earlier connection of this lane has been killed by its client id: bytes still under way on it cannot take effect
/// after anything that is sent later. What was sent on a lost connection is `unknown` and is not resent here. It is a
/// `Connection` below and a `Pipeline` of requests above.
/// Everything on the loop. The loop calls `flush` after each handler, or when it is told
/// that so many bytes are `to_be_flushed`, so that all that one batch of work has to say leaves in one write or in few.
class Lane {
 public:
  using Handler = ResultHandler;

  Lane(timing::Schedule& schedule, const Config& config, std::shared_ptr<EndpointSource> source,
       Subscriptions& subscriptions, LaneEvents events);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Connects. If there is an owner, handlers keep it alive, and it this lane; else whoever ends the loop first ends
  /// them.
  void start(std::weak_ptr<void> owner);
  /// The same, but it connects only when something is sent.
  void start_at_rest(std::weak_ptr<void> owner);
  /// Whether the server is needed beyond what is sent to it. If not, the session ends once all is answered, and the
  /// next one begins when something is sent.
  void set_needed(bool needed);
  /// It has no connection, and nobody waits for one.
  bool at_rest() const;
  /// At rest: the server is another one from now on.
  void begin_anew();
  /// What waits for a connection is told as `misdirected`.
  void reroute();
  /// What waits for a connection hears why there is none.
  void refuse_waiting(std::error_code error, const std::string& cause);
  /// The handler runs exactly once, within about the request's timeout, perhaps at once. Without memory for it the
  /// command is `not_sent`. What a handler throws is swallowed.
  void send(Request&& request, Handler&& handler);
  void flush();
  /// What replies come in on, or -1 while there is no connection.
  int socket() const;
  /// The server that it is connected to, or was lately, in words; empty: not known.
  std::string server() const;
  /// The same as an address; null: not known.
  const Endpoint* endpoint() const;
  /// A handler has thrown, perhaps half way through: begins anew with a new connection.
  void recover();
  /// Timers may be missing for want of memory.
  /// Ends everything under way with Errc::closed and closes the connection.
  void close();
  /// The loop is gone: forgets everything under way, without a word.
  void drop_all();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace holdfast::redis
