// SPDX-License-Identifier: Apache-2.0
#include "sim/model/replication.hpp"

#include <algorithm>

namespace holdfast::test {
namespace {

/// How long a replica that is not there is left alone.
constexpr base::Duration kSoon = std::chrono::milliseconds(100);

bool runs(const ModelServer& server) { return server.up() && !server.frozen(); }

}  // namespace

Replication::Replication(Time& time, ModelServer& primary, ModelServer& replica, Way way)
    : time_(time), primary_(primary), replica_(replica), way_(way) {
  replica_.follow(primary_.place());
  later(time_.now() + time_.between(way_.least, way_.most), &Replication::synchronise);
}

Replication::~Replication() {
  *lives_ = false;
  if (synchronised_) primary_.remove_replica(known_);
}

void Replication::later(base::TimePoint time, void (Replication::*what)()) {
  time_.at(time, [this, what, lives = lives_] {
    if (*lives) (this->*what)();
  });
}

void Replication::synchronise() {
  if (cut_ || !runs(primary_) || !runs(replica_)) return later(time_.now() + kSoon, &Replication::synchronise);
  synchronised_ = true;
  replica_.copy_from(primary_);
  known_ = primary_.add_replica(
      {.place = replica_.place(), .acked = 0, .tell = [this](const Told& changes) { tell(changes); }});
  acks_.emplace_back(time_.now(), replica_.offset());
  acknowledge();
}

void Replication::tell(const Told& changes) {
  latest_ = std::max(latest_, time_.now() + time_.between(way_.least, way_.most));
  on_its_way_.emplace_back(latest_, changes);
  if (!cut_) later(latest_, &Replication::deliver);
}

void Replication::deliver() {
  while (!cut_ && runs(replica_) && !on_its_way_.empty() && on_its_way_.front().first <= time_.now()) {
    const Told changes = std::move(on_its_way_.front().second);
    on_its_way_.pop_front();
    replica_.apply(*changes);
    latest_ack_ = std::max(latest_ack_, time_.now() + time_.between(way_.least, way_.most));
    acks_.emplace_back(latest_ack_, changes->offset);
    later(latest_ack_, &Replication::acknowledge);
  }
  if (!cut_ && !on_its_way_.empty() && !runs(replica_)) later(time_.now() + kSoon, &Replication::deliver);
}

void Replication::acknowledge() {
  while (!cut_ && runs(primary_) && !acks_.empty() && acks_.front().first <= time_.now()) {
    const std::uint64_t offset = acks_.front().second;
    acks_.pop_front();
    primary_.on_ack(known_, offset);
  }
  if (!cut_ && !acks_.empty() && !runs(primary_)) later(time_.now() + kSoon, &Replication::acknowledge);
}

void Replication::cut(bool on) {
  if (std::exchange(cut_, on) == on || on || !synchronised_) return;
  later(time_.now(), &Replication::deliver);
  later(time_.now(), &Replication::acknowledge);
  for (const auto& [time, changes] : on_its_way_) later(time, &Replication::deliver);
  for (const auto& [time, offset] : acks_) later(time, &Replication::acknowledge);
}

}  // namespace holdfast::test
