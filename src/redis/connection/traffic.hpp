// The requests and replies on a connection, as the connection sees them.
#pragma once

#include <vector>

#include "base/resp.hpp"
#include "redis/connection/session.hpp"

namespace holdfast::redis {

/// Gets replies and pushes directly from the session. On the loop.
class Traffic : public Session::Reader {
 public:
  /// A new session begins, perhaps with another server.
  virtual void on_begin() = 0;
  /// Sends commands before all waiting requests; their replies go to Connection::on_login().
  virtual void send_login(const std::vector<base::Command>& commands) = 0;
  /// The login has succeeded.
  virtual void on_login(bool clustered) = 0;
  /// From now on waiting requests are sent.
  virtual void open_gate() = 0;
  /// Sends a command whose reply goes to Connection::on_authenticated().
  virtual void send_auth(const base::Command& command) = 0;
  /// Sends a PING; its reply is only a sign of life.
  virtual void ping() = 0;
  /// Everything that was sent has been answered.
  virtual bool idle() const = 0;
  /// The session has ended: requests in flight will not be answered.
  virtual void on_cut() = 0;
  /// A request waits for a connection.
  virtual bool waited_for() const = 0;
  /// Fails all waiting requests.
  virtual void give_up() = 0;
};

}  // namespace holdfast::redis
