// Many connections as one thing to wait for.
#pragma once

#include <array>

namespace holdfast::redis {

/// Readable when one of its sockets is. A socket leaves it by being closed. On the loop; a descriptor for each client
/// of a cluster.
class SocketSet {
 public:
  SocketSet();
  ~SocketSet();
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;

  /// Negative ones, and those that are in it already, change nothing.
  void add(const std::array<int, 2>& sockets);
  /// To be polled; -1: the system has none to give, so nobody can wait for these.
  int descriptor() const { return set_; }

 private:
  const int set_;
};

}  // namespace holdfast::redis
