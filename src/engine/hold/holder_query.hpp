// Asks a server, in the background, who has one of some locks, for the text of an error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <holdfast/lock_info.hpp>

#include "base/clock.hpp"
#include "engine/hold/plan.hpp"
#include "wire/connection_name.hpp"

namespace holdfast::engine {

class Core;

/// The connections of a server that has few, asked for once for all who want to know within a second. On the loop.
class KnownConnections {
 public:
  using List = std::shared_ptr<const wire::Connections>;
  /// `fresh`: the server was asked after the call. Null: it does not tell, or has many.
  using Done = std::function<void(const List&, bool fresh)>;

  explicit KnownConnections(Core& core) : core_(core) {}
  void ask(Done done);

 private:
  void ask_list();
  void tell(List connections);

  Core& core_;
  std::vector<Done> waiting_;  // while the server is being asked
  List connections_;
  base::TimePoint known_at_{};
};

using HolderDone = std::function<void(std::optional<LockInfo>)>;

/// The first of these keys that somebody has, and who that is: two round trips at most. `done` is called on the core's
/// loop, with nothing if nobody has one or the server does not tell. From any thread.
void ask_holder(const std::shared_ptr<Core>& core, const Plan& plan, std::vector<wire::LockNames> names,
                HolderDone done);

}  // namespace holdfast::engine
