// SPDX-License-Identifier: Apache-2.0
// Whoever listens on a port and is not a Redis server, or a hostile one.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

#include "support/port_lease.hpp"
#include "support/spawn.hpp"

namespace holdfast::test {

/// Answers the first bytes of each connection with its own, once or without end, and then says nothing; a thread.
class Stranger {
 public:
  enum class Manner {
    once,
    without_end,  ///< The last part of what it says again and again, as fast as it is read.
    hangs_up,     ///< Closes the connection behind it.
  };

  /// Says `first`, and then `rest`, in this manner.
  explicit Stranger(std::string first, Manner manner = Manner::once, std::string rest = {});
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  ~Stranger();

  std::uint16_t port() const { return port_.port(); }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port()); }
  int accepted() const { return accepted_; }

 private:
  void run();

  const std::string first_, rest_;
  const Manner manner_;
  PortLease port_;
  Fd listener_;
  std::atomic<bool> over_{false};
  std::atomic<int> accepted_{0};
  std::thread thread_;
};

/// An address that swallows every attempt to connect, as a machine that is switched off does: it listens, and its queue
/// of connections is full.
class BlackHole {
 public:
  BlackHole();
  std::uint16_t port() const { return port_.port(); }

 private:
  PortLease port_;
  Fd listener_;
  std::vector<Fd> queue_;
};

}  // namespace holdfast::test
