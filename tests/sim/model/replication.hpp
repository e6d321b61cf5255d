// SPDX-License-Identifier: Apache-2.0
// What a primary tells a replica: everything, in order, a little later.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "sim/model/model_server.hpp"

namespace holdfast::test {

/// How long one way takes.
struct Way {
  base::Duration least = std::chrono::microseconds(100);
  base::Duration most = std::chrono::milliseconds(1);
};

/// As long as it lives, one follows the other. It begins with a copy of all that there is.
class Replication {
 public:
  Replication(Time& time, ModelServer& primary, ModelServer& replica, Way way = {});
  ~Replication();
  Replication(const Replication&) = delete;
  Replication& operator=(const Replication&) = delete;

  /// Nothing gets through, in either direction; when it does again, all that was held back follows.
  void cut(bool on);
  /// The replica has a copy and what came since, as far as it has arrived.
  bool synchronised() const { return synchronised_; }

 private:
  using Told = std::shared_ptr<const Changes>;

  void synchronise();
  void tell(const Told& changes);
  void deliver();
  void acknowledge();
  /// It happens only if this lives then.
  void later(base::TimePoint time, void (Replication::*what)());

  Time& time_;
  ModelServer& primary_;
  ModelServer& replica_;
  const Way way_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  ModelServer::ReplicaId known_;
  std::deque<std::pair<base::TimePoint, Told>> on_its_way_;
  std::deque<std::pair<base::TimePoint, std::uint64_t>> acks_;
  base::TimePoint latest_{}, latest_ack_{};
  bool synchronised_ = false;
  bool cut_ = false;
};

}  // namespace holdfast::test
