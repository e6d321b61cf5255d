// What a lane is asked to send, and what has become of it.
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

namespace holdfast::redis {

/// What a request is for, for those who measure.
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

/// Commands that travel in one write, in order. With `subscribe`, a SUBSCRIBE (or SSUBSCRIBE) of those channels goes
/// before them unless all are subscribed already, or that was refused for good lately: what is published after the
/// first command has run is then heard.
struct Request {
  std::vector<base::Command> commands;
  base::Duration timeout{};
  std::vector<std::string> subscribe{};
  /// How they are subscribed: SUBSCRIBE, SSUBSCRIBE or both. `automatic`: as the server's `Subscriptions` says. Those
  /// of one SSUBSCRIBE lie in one slot.
  Publish publish = Publish::automatic;
  /// The channels on which its commands tell of a release by SPUBLISH: see Runtime::send().
  std::vector<std::string> tells{};
  bool here = false;         ///< It is for this very node: no other one is asked instead.
  bool asking = false;       ///< ASKING goes before the command, of which there is one, and before the SSUBSCRIBE.
  std::uint8_t detours = 0;  ///< How often it was sent to another node than before.
  Operation operation = Operation::other;

  /// Of one command, without a copy of it.
  static Request of(base::Command command, base::Duration timeout, Operation operation = Operation::other) {
    Request request;
    request.timeout = timeout;
    request.operation = operation;
    request.commands.push_back(std::move(command));
    return request;
  }

  /// The key that says which server this is for: the first one of the first command. That is the second of its `args`,
  /// behind the number of keys of a script's call, or behind the name of a plain command (`GET key`). Empty: it is for
  /// any server. Valid as long as the request is unchanged.
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
  unknown,   ///< It was sent, wholly or in part, and no reply came.
};

struct Result {
  Delivery delivery = Delivery::not_sent;
  std::vector<base::Reply> replies;
  std::error_code error;    ///< When not answered: unreachable, denied, tls, closed, unknown_outcome, ...
  std::string cause;        ///< When not answered: the reason in words, without secrets.
  bool pointless = false;   ///< When not sent: trying again will not help (login refused, first connection refused).
  bool resent = false;      ///< Answered, but commands whose script was forgotten ran behind the others.
  bool asked = false;       ///< Answered behind ASKING: by a node that is taking the slot over.
  bool subscribed = false;  ///< Answered, and the request's channels were subscribed before its commands ran.
  Subscriptions::Why cannot_subscribe{};  ///< Answered, but the channels could not be subscribed.
  base::TimePoint sent_at{};              ///< Taken before the send: a lease is counted from here.
};

using ResultHandler = std::function<void(Result)>;

/// A request that another node of a cluster is to be asked.
struct Misdirected {
  Request request;
  ResultHandler handler;
  base::TimePoint deadline{};
  Result result{};  ///< Answered: some replies are redirects; not sent: it was not.
};

}  // namespace holdfast::redis
