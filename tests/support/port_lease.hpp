// SPDX-License-Identifier: Apache-2.0
// A TCP port that no other test process on this machine will use meanwhile.
#pragma once

#include <cstdint>

namespace holdfast::test {

/// A free loopback port outside the range that the system gives to outgoing connections, reserved among all tests of
/// this user by a locked file. It can be bound, closed and bound again for as long as the lease lives.
class PortLease {
 public:
  /// `and_above`: the port 10,000 above it is free, too, and outside that range. There are fewer of these.
  explicit PortLease(bool and_above = false);
  PortLease(const PortLease&) = delete;
  PortLease& operator=(const PortLease&) = delete;
  ~PortLease();

  std::uint16_t port() const { return port_; }

 private:
  std::uint16_t port_ = 0;
  int fd_ = -1;
};

}  // namespace holdfast::test
