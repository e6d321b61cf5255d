// What crosses the releases of one lock that are under way: messages and attempts, as pure decisions.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// Of one client. Not thread-safe; the target guards it.
class ReleaseTraffic {
 public:
  bool any() const { return under_way_ > 0; }

  /// A release goes to the server. With a time, nobody of this client asks before that, or before its outcome.
  void begin(std::optional<TimePoint> ask_after) {
    ++under_way_;
    ask_after_ = ask_after.value_or(TimePoint{});
  }
  /// Until then nobody asks.
  std::optional<TimePoint> ask_after() const {
    if (!any() || ask_after_ == TimePoint{}) return std::nullopt;
    return ask_after_;
  }

  /// A message came. Those of our own releases, `each` for one of them, come before their replies (or behind: then they
  /// are expected, and do not come here). Whether this was one of them, the reply tells. False: it was not.
  bool may_be_own(std::size_t each) {
    if (unclaimed_ >= under_way_ * each) return false;
    ++unclaimed_;
    return true;
  }
  /// The server said to an attempt that the lock is taken: perhaps by what is just being released. False: not so.
  bool overtakes() {
    if (any()) overtaken_ = 1;
    return any();
  }

  struct End {
    bool ask_again = false;  // what was said meanwhile may not be true any more
    bool others = false;     // a message that came meanwhile was not our own
  };
  /// The outcome of one is known, or given up; `released` by us.
  End end(bool released) {
    --under_way_;
    End end{overtaken_ == 1 || ask_after_ != TimePoint{}, !any() && unclaimed_ > 0 && !released};
    overtaken_ = 0;
    if (!any()) unclaimed_ = 0;
    return end;
  }

 private:
  // There may be millions: no larger than it must be.
  std::uint32_t under_way_ = 0;
  std::uint32_t unclaimed_ : 31 = 0;  // messages meanwhile that may be those releases' own
  std::uint32_t overtaken_ : 1 = 0;   // an attempt came to the server before our release
  TimePoint ask_after_{};             // none: at any time
};

}  // namespace holdfast::engine
