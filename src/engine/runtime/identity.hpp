// Identifies a client's server, for groups whose members must be on different ones.
#pragma once

#include <atomic>

#include "redis/topology/shard.hpp"

namespace holdfast::engine {

class Runtime;

/// From any thread, unless stated otherwise. See redis::Router::server().
class Identity {
 public:
  explicit Identity(Runtime& runtime) : runtime_(runtime) {}

  /// Asks the server, unless known, and from now on at each new connection. Commands sent later are answered later.
  void ask();
  /// On the loop, before waiting requests are sent.
  void on_connected(redis::Shard& shard);
  /// Whether a group must wait until it is known: only once, or a server that is down would delay every group again.
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
