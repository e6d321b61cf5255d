// SPDX-License-Identifier: Apache-2.0
// Listening to a server: the messages it publishes and the commands it executes.
#pragma once

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "support/raw.hpp"

namespace holdfast::test {

struct Message {
  std::string channel;
  std::string payload;
  friend bool operator==(const Message&, const Message&) = default;
};
void PrintTo(const Message& message, std::ostream* out);

/// The messages of PUBLISH, or those of SPUBLISH.
enum class Heard { plain, sharded };

/// Collects published messages in a thread. Subscribed when the constructor returns; thread-safe. For one life of the
/// server: after a restart make a new one.
class Subscriber {
 public:
  /// All channels of the server.
  explicit Subscriber(const RedisServer& server);
  /// These only. Sharded channels have the same hash tag, in braces.
  Subscriber(const RedisServer& server, std::vector<std::string> channels, Heard heard = Heard::plain);
  ~Subscriber();

  /// True when there are at least this many messages.
  bool wait_for(std::size_t count, std::chrono::milliseconds limit = kPatience) const;
  /// Every message published before this call, in order: sends a mark and waits for it, so none can still be under way.
  std::vector<Message> messages();
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One executed command as MONITOR shows it.
struct MonitorLine {
  std::string client;             ///< `127.0.0.1:50412`, `unix:/path`, or `lua` for a call from a script.
  std::vector<std::string> args;  ///< The command and its arguments, unescaped.
  std::string text;               ///< The line as it came.
  bool from_script() const { return client == "lua"; }
};

/// Which lines of a Monitor: calls that scripts make count as commands of the server too, but not of a client.
enum class Lines { from_clients, from_scripts, all };

/// Collects what the server executes, in a thread. Active when the constructor returns; thread-safe. For one life of
/// the server: after a restart make a new one.
/// Everything executed before a call of lines() or count() is seen by it; the monitor's own marks are left out.
class Monitor {
 public:
  explicit Monitor(const RedisServer& server);
  ~Monitor();

  std::vector<MonitorLine> lines(Lines which = Lines::from_clients);
  /// Lines that contain this text in any case, in the part after the client's address: `evalsha`, or `"orders:42"`.
  std::size_t count(std::string_view text, Lines which = Lines::from_clients);
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::test
