// A lane: one connection to one server, with login, reconnection, time limits and pushes. Knows no locks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "redis/connection/channels.hpp"

namespace holdfast::redis {

/// Commands that travel in one write, in order. With `subscribe`, a SUBSCRIBE of those channels goes before them unless
/// all are subscribed already, or that was refused for good lately: what is published after the first command has run
/// is then heard.
struct Request {
  std::vector<base::Command> commands;
  base::Duration timeout{};
  std::vector<std::string> subscribe;

  /// Of one command, without a copy of it.
  static Request of(base::Command command, base::Duration timeout) {
    Request request{{}, timeout, {}};
    request.commands.push_back(std::move(command));
    return request;
  }
};

enum class Delivery {
  answered,  ///< One reply per command (an error reply is a reply).
  not_sent,  ///< The server cannot have seen it.
  unknown,   ///< It was sent, wholly or in part, and no reply came.
};

struct Result {
  Delivery delivery = Delivery::not_sent;
  std::vector<base::Reply> replies;
  std::error_code error;    ///< When not answered: unreachable, denied, tls, closed, unknown_outcome, ...
  std::string cause;        ///< When not answered: the reason in words, without secrets.
  bool pointless = false;   ///< When not sent: trying again will not help (login refused, first connection refused).
  bool subscribed = false;  ///< Answered, and the request's channels were subscribed before its commands ran.
  Channels::Why cannot_subscribe{};  ///< Answered, but the channels could not be subscribed.
  base::TimePoint sent_at{};         ///< Taken before the send: a lease is counted from here.
};

/// What a lane tells its owner; called on the loop, must not block.
struct LaneEvents {
  std::function<void()> connected;
  std::function<void(const std::string& cause)> disconnected;
  std::function<void()> message;
  std::function<void()> command;
  std::function<void(std::size_t bytes)> to_be_flushed;
};

/// Commands wait at a gate until the login on a connection is through, so nothing runs in a wrong database or before
/// an earlier connection of this lane has been killed by its client id: bytes still under way on it cannot take effect
/// after anything that is sent later. What was sent on a lost connection is `unknown` and is not resent here.
/// Everything on the loop, whose executor it is given. The loop calls `flush` after each handler, or when it is told
/// that so many bytes are `to_be_flushed`, so that all that one batch of work has to say leaves in one write or in few.
class Lane {
 public:
  using Handler = std::function<void(Result)>;

  Lane(const boost::asio::any_io_executor& executor, const Config& config, Channels& channels, LaneEvents events);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Connects. If there is an owner, handlers keep it alive, and it this lane; else whoever ends the loop first ends
  /// them.
  void start(std::weak_ptr<void> owner);
  /// The handler runs exactly once, within about the request's timeout, perhaps at once. Without memory for it the
  /// command is `not_sent`. What a handler throws is swallowed.
  void send(Request request, Handler handler);
  void flush();
  /// What replies come in on, or -1 while there is no connection.
  int socket() const;
  /// A handler has thrown, perhaps half way through: begins anew with a new connection.
  void recover();
  /// Ends everything under way with Errc::closed and closes the connection.
  void close();
  /// The loop is gone: forgets everything under way, without a word.
  void drop_all();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace holdfast::redis
