// SPDX-License-Identifier: Apache-2.0
// A request to a lane, its result, and what else happens on a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/decide/resp.hpp"

namespace holdfast::redis {

/// The purpose of a request, for metrics.
enum class Operation : std::uint8_t { acquire, release, renew, confirm, other };
constexpr std::size_t kOperations = 5;
constexpr const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::acquire:
      return "acquire";
    case Operation::release:
      return "release";
    case Operation::renew:
      return "renew";
    case Operation::confirm:
      return "confirm";
    case Operation::other:
      break;
  }
  return "other";
}

/// Commands sent in one write, in order. With `subscribe`, a SUBSCRIBE (or SSUBSCRIBE) of those channels goes before
/// them, unless all are already subscribed, or it was refused for good recently. So messages published after the first
/// command has run are received.
struct Request {
  std::vector<base::Command> commands;
  base::Duration timeout{};
  std::vector<std::string> subscribe{};
  /// How to subscribe: SUBSCRIBE, SSUBSCRIBE or both. `automatic`: as the server's `Subscriptions` says. The channels
  /// of one SSUBSCRIBE are in one slot.
  Publish publish = Publish::automatic;
  /// The channels on which its commands publish a release by SPUBLISH: see Runtime::send().
  std::vector<std::string> tells{};
  bool here = false;         ///< For this node only: not redirected to another one.
  bool asking = false;       ///< ASKING goes before the only command, and before the SSUBSCRIBE.
  std::uint8_t detours = 0;  ///< How often it was redirected to another node.
  Operation operation = Operation::other;
  ReplyLimits most = kMostOfReplies;  ///< For all its replies together; the connection ends if they are longer.

  /// A request with one command, which is moved.
  static Request of(base::Command command, base::Duration timeout, Operation operation = Operation::other) {
    Request request;
    request.timeout = timeout;
    request.operation = operation;
    request.commands.push_back(std::move(command));
    return request;
  }

  /// The key that determines the server: the first one of the first command, which is its second argument, after the
  /// number of keys of a script's call, or after the name of a plain command (`GET key`). Empty: any server. Valid as
  /// long as the request is unchanged.
  std::string_view key() const {
    if (commands.empty() || commands.front().args.size() < 2) return {};
    const base::Command& first = commands.front();
    if (first.script != nullptr && first.args.front() == "0") return {};
    return first.args[1];
  }
};

enum class Delivery {
  answered,  ///< One reply per command (an error reply is a reply).
  not_sent,  ///< The server cannot have seen it.
  unknown,   ///< It was sent, at least in part, and no reply came.
};

struct Result {
  Delivery delivery = Delivery::not_sent;
  std::vector<base::Reply> replies;
  std::error_code error;    ///< When not answered: unreachable, denied, tls, closed, unknown_outcome, ...
  std::string cause;        ///< When not answered: the reason as text, without secrets.
  bool pointless = false;   ///< When not sent: a retry will not help (login refused, first connection refused).
  bool refused = false;     ///< When not sent: since the login was refused for good.
  bool resent = false;      ///< Answered, but commands whose script the server had lost ran after the others.
  bool asked = false;       ///< Answered after ASKING, by a node that is taking over the slot.
  bool subscribed = false;  ///< Answered, and the request's channels were subscribed before its commands ran.
  /// Answered, and they are being subscribed: their listeners run when that is done.
  bool subscribing = false;
  Subscriptions::Why cannot_subscribe{};  ///< Answered, but the channels could not be subscribed.
  base::TimePoint sent_at{};              ///< Just before the send: leases count from here.
};

using ResultHandler = std::function<void(Result)>;

/// A request that must go to another node of a cluster, or in another form.
struct Misdirected {
  Request request;
  ResultHandler handler;
  base::TimePoint deadline{};
  Result result{};  ///< If answered, some replies are redirects, or TRYAGAIN; otherwise it was not sent.
};

/// The cause of a disconnection that is no failure.
inline constexpr const char* kNotNeeded = "the server is not needed any more";

/// What happens on a lane, for its owner, who outlives that. Called on the loop, must not block.
class LaneEvents {
 public:
  LaneEvents() = default;
  virtual ~LaneEvents() = default;
  LaneEvents(const LaneEvents&) = delete;
  LaneEvents& operator=(const LaneEvents&) = delete;

  virtual void connected() {}
  virtual void disconnected(const std::string& /*cause*/) {}
  virtual void message() {}
  virtual void command() {}
  virtual void to_be_flushed(std::size_t /*bytes*/) {}
  /// All commands of a request were answered by the server that serves it, this long after the send.
  virtual void answered(Operation, base::Duration /*took*/) {}
  /// These keys (an array; null: all) were changed, or may have been. Only with CLIENT TRACKING.
  virtual void invalidated(const base::Reply& /*keys*/) {}
  /// A request that this server does not serve. False: it is not taken, and its handler gets the refusal. Otherwise the
  /// receiver ensures that the handler runs.
  virtual bool takes_misdirected() const { return false; }
  virtual void misdirected(Misdirected&&) {}
  /// Each error reply, before the request's handler runs.
  virtual void refused(const std::string& /*error_text*/) {}
  /// The server has ended the subscription to a sharded channel: its slot is served elsewhere.
  virtual void taken_away(const std::string& /*channel*/) {}
  /// The text of each message.
  virtual void said(const std::string& /*channel*/, const std::string& /*text*/) {}
};

}  // namespace holdfast::redis
