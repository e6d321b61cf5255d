// Combines many connections into one descriptor to wait for.
#pragma once

#include <array>

namespace holdfast::redis {

/// Readable when one of its sockets is. A socket leaves the set by being closed. On the loop; one descriptor for each
/// client of a cluster.
class SocketSet {
 public:
  SocketSet();
  ~SocketSet();
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;

  /// Ignores negative ones and those already in the set.
  void add(const std::array<int, 2>& sockets);
  /// To be polled; -1: the system has no free descriptor, so these cannot be waited for.
  int descriptor() const { return set_; }

 private:
  const int set_;
};

}  // namespace holdfast::redis
