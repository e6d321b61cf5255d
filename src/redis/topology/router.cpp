// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/router.hpp"

#include <algorithm>
#include <utility>

#include "redis/decide/redirect.hpp"

namespace holdfast::redis {

void Router::send(Request&& request, Lane::Handler&& handler) {
  Shard& shard = shard_of(request.key());
  shard.send(std::move(request), std::move(handler));
}

Router::Way Router::way_after(std::string_view redirect, std::uint16_t slot, bool asked) {
  const auto told = cluster::read_redirect(redirect, {});
  const bool under_way = told && told->kind == cluster::Redirect::Kind::ask && !asked;
  if (Shard* const there = under_way ? shard_at(told->to) : nullptr) return {there, true};
  return {&shard_of_slot(slot), false};
}

std::vector<Shard*> Router::serving() {
  if (Shard* const only = only_shard()) return {only};
  std::vector<Shard*> all;
  for (std::size_t slot = 0; slot < cluster::kSlots; ++slot) {
    Shard* const shard = &shard_of_slot(static_cast<std::uint16_t>(slot));
    if (all.empty() || all.back() != shard) all.push_back(shard);
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
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
