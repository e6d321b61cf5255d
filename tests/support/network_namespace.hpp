// SPDX-License-Identifier: Apache-2.0
// A network of its own for a process of a test, in which it reaches nothing but what the test puts there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/spawn.hpp"

namespace holdfast::test {

/// Has a loopback interface and nothing else. Lives as long as this object, or a process in it. Needs the right to make
/// one: see why_not(). Throws std::system_error.
class NetworkNamespace {
 public:
  NetworkNamespace();

  /// Why none can be made here; empty if it can.
  static std::string why_not();

  /// Carries it out with this network; sockets that it makes stay there.
  void inside(const std::function<void()>& work) const;
  /// A program starts in it behind these words.
  std::vector<std::string> prefix() const;

 private:
  Fd fd_;
};

}  // namespace holdfast::test
