// Which server a client's is, for groups whose members must be of different ones.
#pragma once

#include <atomic>

#include "redis/topology/shard.hpp"

namespace holdfast::engine {

class Runtime;

/// From any thread, unless it says otherwise. See redis::Router::server().
class Identity {
 public:
  explicit Identity(Runtime& runtime) : runtime_(runtime) {}

  /// Asks the server, unless it is known, and from now on at each new connection. What is sent behind it is answered
  /// behind it.
  void ask();
  /// On the loop, before what waits for the connection is sent.
  void on_connected(redis::Shard& shard);
  /// Whether a group has to wait until it is known: only once, or a server that is down would hold up every group anew.
  bool to_be_waited_for() const;
  void waited_for() { waited_for_.store(true); }

 private:
  void ask(redis::Shard& shard);

  Runtime& runtime_;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> waited_for_{false};
  int under_way_ = 0;  // on the loop
};

}  // namespace holdfast::engine
