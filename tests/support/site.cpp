// SPDX-License-Identifier: Apache-2.0
#include "support/site.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "support/wait.hpp"

namespace holdfast::test {
namespace {

std::string channel_of(std::string_view name) { return "redisson_lock__channel:{" + std::string(name) + "}"; }

/// The number in the answer to NUMSUB of one channel; 0: the server knows no such command.
long long subscribers(const Reply& reply) { return reply.elements.size() == 2 ? reply.elements[1].integer : 0; }

}  // namespace

bool in_cluster() {
  const char* const value = std::getenv("HOLDFAST_TEST_SERVERS");
  const std::string_view word = value == nullptr ? "" : value;
  if (word.empty() || word == "one") return false;
  if (word == "cluster") return true;
  throw std::invalid_argument("HOLDFAST_TEST_SERVERS is one or cluster, not " + std::string(word));
}

Site::Site(std::size_t primaries, std::size_t replicas) {
  if (in_cluster()) {
    cluster_ = std::make_unique<Cluster>(ClusterOptions{.primaries = primaries, .replicas = replicas});
    primaries_ = cluster_->primaries();
    url_ = cluster_->url();
  } else {
    one_ = std::make_unique<RedisServer>();
    primaries_ = {one_.get()};
    url_ = one_->url();
  }
}

RedisServer& Site::server(std::string_view name) {
  if (one_) return *one_;
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return *known->second;
  return *by_name_.emplace(name, &cluster_->primary_of(name)).first->second;
}

void Site::restart(std::string_view name, Data data) {
  server(name).restart(data);
  if (!eventually([&] { return !raw(name).command("EXISTS", name).is_error(); })) {
    throw std::runtime_error("the server does not serve its slots again");
  }
}

Raw& Site::raw(std::string_view name) { return raw(server(name)); }

Raw& Site::raw(const RedisServer& server) { return raws_.try_emplace(&server, server).first->second; }

/// Nobody listens in both ways.
long long Site::listeners(std::string_view name) {
  long long count = 0;
  for (const RedisServer* each : primaries_) {
    for (const char* question : {"NUMSUB", "SHARDNUMSUB"}) {
      count += subscribers(raw(*each).command("PUBSUB", question, channel_of(name)));
    }
  }
  return count;
}

std::size_t Site::channels() {
  std::size_t count = 0;
  for (const RedisServer* each : primaries_) {
    for (const char* question : {"CHANNELS", "SHARDCHANNELS"}) {
      count += raw(*each).command("PUBSUB", question, "redisson_lock__channel:*").elements.size();
    }
  }
  return count;
}

void Site::wake(std::string_view name) {
  raw(name).command("PUBLISH", channel_of(name), "0");
  if (cluster_) raw(name).command("SPUBLISH", channel_of(name), "0");
}

}  // namespace holdfast::test
