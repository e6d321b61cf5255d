// Tells a new primary of the releases that only the one before it may have seen.
#pragma once

#include <vector>

#include "base/resp.hpp"
#include "engine/decide/recent_releases.hpp"
#include "engine/runtime/runtime.hpp"
#include "timing/timer.hpp"

namespace holdfast::engine {

/// Of one client. On the loop.
class LateReleases {
 public:
  /// After a new connection: by then other clients, who may still be granted locks by the old primary, have left it as
  /// well. What is free at the new one a moment too early could have two holders.
  static constexpr std::chrono::seconds kPause{1};

  LateReleases(Runtime& runtime, const RecentReleases& recent);

  void on_connected();
  void stop();

 private:
  void repeat();

  Runtime& runtime_;
  const RecentReleases& recent_;
  timing::Timer timer_;
  std::vector<base::Command> waiting_;
};

}  // namespace holdfast::engine
