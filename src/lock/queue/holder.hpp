// SPDX-License-Identifier: Apache-2.0
// Who has a lock: what an owner and the server's list of connections say, and how a server is asked for both.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/lock_info.hpp>

#include "kinds/connection_name.hpp"
#include "kinds/plan.hpp"

namespace holdfast::redis {
class Shard;
}

namespace holdfast::engine {

class Runtime;

/// Without connections (null): the server does not tell.
Holder holder_of(std::string_view owner, const wire::Connections* connections);

using HolderDone = std::function<void(std::optional<LockInfo>)>;

/// In the background, for the text of an error: the first of these keys of one server that somebody has, and who that
/// is: two round trips at most. `done` is called on the client's loop, with nothing if nobody has one or the server
/// does not tell. From any thread.
void ask_holder(Runtime& runtime, redis::Shard& shard, const Plan& plan, std::vector<wire::LockNames> names,
                HolderDone done);

}  // namespace holdfast::engine
