#include "redis/topology/router.hpp"

#include <utility>

namespace holdfast::redis {

void Router::send(Request&& request, Lane::Handler&& handler) {
  Shard& shard = shard_of(request.key());
  shard.send(std::move(request), std::move(handler));
}

void Router::start(const std::weak_ptr<void>& owner) {
  for (Shard* shard : shards()) shard->start(owner);
}

void Router::flush() {
  for (Shard* shard : shards()) shard->flush();
}

void Router::recover() {
  for (Shard* shard : shards()) shard->recover();
}

void Router::close() {
  for (Shard* shard : shards()) shard->close();
}

void Router::drop_all() {
  for (Shard* shard : shards()) shard->drop_all();
}

std::array<int, 2> Router::sockets() const {
  return shards().size() == 1 ? shards().front()->sockets() : std::array<int, 2>{-1, -1};
}

}  // namespace holdfast::redis
