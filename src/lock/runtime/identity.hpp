// SPDX-License-Identifier: Apache-2.0
// Identifies a client's server, for groups whose members must be on different ones.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "kinds/connection_name.hpp"
#include "redis/topology/router.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::engine {

/// The connections to a server, for the texts of errors. The connections of one server, if it has few, listed once for
/// all queries within a second. Its cluster may have other servers. On the loop.
class KnownConnections {
 public:
  using List = std::shared_ptr<const wire::Connections>;
  /// `fresh`: the server was asked after the call. Null: not reported, or too many.
  using Done = std::function<void(const List&, bool fresh)>;

  KnownConnections(redis::Shard& shard, base::Duration command_timeout)
      : shard_(shard), command_timeout_(command_timeout) {}
  void ask(Done done);

 private:
  void ask_server(base::Command command, redis::Lane::Handler handler);
  void ask_list();
  void tell(List connections);

  redis::Shard& shard_;
  const base::Duration command_timeout_;
  std::vector<Done> waiting_;  // while the server is being asked
  List connections_;
  base::TimePoint known_at_{};
};

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
