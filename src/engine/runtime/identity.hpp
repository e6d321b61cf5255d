// Identifies a client's server, for groups whose members must be on different ones.
#pragma once

#include <atomic>
#include <memory>

#include "redis/topology/router.hpp"

namespace holdfast::engine {

/// From any thread, unless stated otherwise. See redis::Router::server().
class Identity {
 public:
  Identity(redis::Router& router, base::Duration timeout) : router_(router), timeout_(timeout) {}

  /// From now on the server is asked at each new connection. True: it is not known yet, so ask() now.
  bool want();
  /// Unless it is known, or has been asked. `client` is kept until there is an answer. On the loop.
  void ask(std::shared_ptr<void> client);
  /// On the loop, before waiting requests are sent.
  void on_connected(redis::Shard& shard, std::shared_ptr<void> client);
  /// Whether a group must wait until it is known: only once, or a server that is down would delay every group again.
  bool to_be_waited_for() const;
  void waited_for() { waited_for_.store(true); }

 private:
  void send(redis::Shard& shard, std::shared_ptr<void> client);

  redis::Router& router_;
  const base::Duration timeout_;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> waited_for_{false};
  int under_way_ = 0;  // on the loop
};

}  // namespace holdfast::engine
