// SPDX-License-Identifier: Apache-2.0
#include "lock/runtime/identity.hpp"

#include <functional>
#include <string>
#include <utility>

#include "kinds/server_calls.hpp"

namespace holdfast::engine {
namespace {

using base::Clock;

/// How long a list of connections is reused.
constexpr std::chrono::seconds kFresh{1};

}  // namespace

void KnownConnections::ask(Done done) {
  if (Clock::now() < known_at_ + kFresh) return done(connections_, false);
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  ask_server(wire::count_connections(), [this](const redis::Result& result) {
    const bool few = !result.replies.empty() && wire::are_few_connections(result.replies.front());
    if (few) return ask_list();
    tell(nullptr);
  });
}

void KnownConnections::ask_server(base::Command command, redis::Lane::Handler handler) {
  redis::Request request = redis::Request::of(std::move(command), command_timeout_);
  request.here = true;
  shard_.send(std::move(request), std::move(handler));
}

void KnownConnections::ask_list() {
  ask_server(wire::list_connections(), [this](const redis::Result& result) {
    std::optional<wire::Connections> list;
    if (!result.replies.empty()) list = wire::decode_connections(result.replies.front());
    tell(list ? std::make_shared<const wire::Connections>(std::move(*list)) : nullptr);
  });
}

void KnownConnections::tell(List connections) {
  connections_ = std::move(connections);
  known_at_ = Clock::now();
  bool first = true;
  for (const Done& done : std::exchange(waiting_, {})) {
    done(connections_, std::exchange(first, false));
  }
}

bool Identity::want() {
  wanted_.store(true);
  return router_.server() == 0;
}

void Identity::ask(std::shared_ptr<void> client) {
  redis::Shard* const only = router_.only_shard();
  if (only != nullptr && only->server() == 0 && under_way_ == 0) send(*only, std::move(client));
}

void Identity::on_connected(redis::Shard& shard, std::shared_ptr<void> client) {
  if (wanted_.load() && router_.only_shard() != nullptr) send(shard, std::move(client));
}

/// If there is no connection yet, the new connection asks again.
void Identity::send(redis::Shard& shard, std::shared_ptr<void> client) {
  ++under_way_;
  shard.send(redis::Request::of(wire::server_info(), timeout_),
             [this, &shard, client = std::move(client)](const redis::Result& result) {
               --under_way_;
               if (result.delivery != redis::Delivery::answered) return;
               const std::string run_id = wire::decode_run_id(result.replies.front());
               shard.identify(run_id.empty() ? redis::kNameless : std::hash<std::string>()(run_id));
               waited_for();
             });
}

bool Identity::to_be_waited_for() const { return !waited_for_.load() && router_.server() == 0; }

}  // namespace holdfast::engine
