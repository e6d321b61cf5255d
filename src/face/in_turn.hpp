// All servers of a client that have locks, one after another.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/runtime/asking.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::face {

/// The only server, or the primaries of a cluster once the map is known: the first request waits for the map. Never
/// sends to replicas.
class InTurn {
 public:
  explicit InTurn(engine::Runtime& runtime)
      : router_(runtime.router()), known_(router_.only_shard() != nullptr), one_(known_) {}

  /// True until the first answer, which ensures that the map is known.
  bool begins() const { return !known_; }
  /// The server to send to now; null: the only one.
  redis::Shard* where() const { return one_ || begins() ? nullptr : shards_[at_]; }
  bool several() const { return !one_; }
  /// To be called after its answer. False: it was the last.
  bool next() {
    if (one_) return false;
    if (known_) return ++at_ < shards_.size();
    known_ = true;
    shards_ = router_.serving();
    return !shards_.empty();
  }

 private:
  redis::Router& router_;
  bool known_;
  const bool one_;
  std::vector<redis::Shard*> shards_;
  std::size_t at_ = 0;
};

/// Pings each of them.
class Pinging {
 public:
  explicit Pinging(engine::Runtime& runtime) : servers_(runtime) {}

  engine::Inquiry inquiry() const { return {{{{"PING"}}}, servers_.where()}; }
  bool on_replies(const std::vector<base::Reply>&) { return servers_.next(); }
  static engine::Errors errors() { return engine::Errors::raise; }
  static void take() {}

 private:
  InTurn servers_;
};

}  // namespace holdfast::face
