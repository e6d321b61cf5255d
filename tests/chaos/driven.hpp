// SPDX-License-Identifier: Apache-2.0
// The rounds of a taker that keeps no records, driven from here.
#pragma once

#include <stop_token>
#include <string>
#include <thread>

#include "chaos/crew.hpp"

namespace holdfast::test::chaos {

/// Takes a lock and gives it back, again and again, until it is told to stop, or its process is gone. Its holder
/// believes in it for the length of the lease, from when it was asked for.
class Driven {
 public:
  Driven(Taker& taker, Work work, std::string record);
  void request_stop() { thread_.request_stop(); }

 private:
  std::jthread thread_;
};

}  // namespace holdfast::test::chaos
