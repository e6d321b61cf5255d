#include "engine/runtime/known_connections.hpp"

#include <utility>

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

}  // namespace holdfast::engine
