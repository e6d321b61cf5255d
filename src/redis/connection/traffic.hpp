// What travels on a connection, as the connection sees it.
#pragma once

#include <vector>

#include "base/resp.hpp"
#include "redis/connection/session.hpp"

namespace holdfast::redis {

/// Replies and pushes reach it straight from the session. On the loop.
class Traffic : public Session::Reader {
 public:
  /// A new session begins, to a server of which nothing is known.
  virtual void on_begin() = 0;
  /// Sends commands ahead of all that waits; their replies are for Connection::on_login().
  virtual void send_login(const std::vector<base::Command>& commands) = 0;
  /// The login is through.
  virtual void on_login(bool clustered) = 0;
  /// What waits may go, from now on.
  virtual void open_gate() = 0;
  /// Sends a command whose reply is for Connection::on_authenticated().
  virtual void send_auth(const base::Command& command) = 0;
  /// Sends a PING whose reply is only a sign of life.
  virtual void ping() = 0;
  /// Whatever was sent has been answered.
  virtual bool idle() const = 0;
  /// The session has ended: what was sent on it will not be answered.
  virtual void on_cut() = 0;
  /// Something waits for a connection.
  virtual bool waited_for() const = 0;
  /// There is no hope for what waits.
  virtual void give_up() = 0;
};

}  // namespace holdfast::redis
