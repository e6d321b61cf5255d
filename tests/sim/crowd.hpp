// SPDX-License-Identifier: Apache-2.0
// Crowds of waiters on one lock, each with the acquire loop of the library, at a server that is played (of a fair lock:
// by the model of its scripts): how many scripts a grant costs, and how long the lock is idle. Without a clock, so the
// figures are the same each time.
#pragma once

#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>

#include "lock/decide/acquire_fsm.hpp"

namespace holdfast::test {

struct CrowdSetting {
  int clients = 2000;
  base::Duration hold = std::chrono::milliseconds(5);
  base::Duration time = std::chrono::seconds(20);  ///< That it runs for.
  int live = 2000;    ///< The others are frozen from the middle on: they listen, and do nothing.
  double lost = 0;    ///< How many of the messages.
  double killed = 0;  ///< How many of the holders end without a release.
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  base::Duration far = std::chrono::milliseconds(2);  ///< A message takes up to this, and a command half a millisecond.
  bool fair = false;                                  ///< It is a fair lock.
  int names = 1;                                      ///< Any one of so many plain locks is wanted.
  bool said = true;                                   ///< Waiters are told that it is busy; a control where not.
  double scripts = 25;                                ///< At most so many a grant.
};

inline void PrintTo(const CrowdSetting& setting, std::ostream* out) {
  if (setting.names > 1) *out << "any of " << setting.names << ", ";
  *out << (setting.fair ? "fair, " : "") << setting.clients << " clients, "
       << setting.hold / std::chrono::milliseconds(1) << " ms, " << setting.live << " live";
}

struct CrowdFound {
  int grants = 0;
  int scripts = 0;
  int polls = 0;
  base::Duration idle_in_all{};
  base::Duration longest_idle{};  // while somebody live waited
  int inversions = 0;             // a waiter was granted it before one that had come earlier
  int pairs = 0;

  double scripts_each() const { return static_cast<double>(scripts - polls) / std::max(grants, 1); }
};

/// In the second half of the time, when all have come.
CrowdFound play(const CrowdSetting& setting);

}  // namespace holdfast::test
