// The connections to a server, for the texts of errors.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "redis/topology/shard.hpp"
#include "wire/connection_name.hpp"

namespace holdfast::engine {

/// The connections of one server, if it has few, listed once for all queries within a second. Its cluster may have
/// other servers. On the loop.
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

}  // namespace holdfast::engine
