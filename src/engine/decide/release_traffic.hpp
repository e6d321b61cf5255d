// Messages and attempts that cross pending releases of one lock, as pure decisions.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// For one client. Not thread-safe; the target guards it.
class ReleaseTraffic {
 public:
  bool any() const { return under_way_ > 0; }

  /// A release is sent. With a time, this client does not ask before that, or before the outcome.
  void begin(std::optional<TimePoint> ask_after) {
    ++under_way_;
    ask_after_ = ask_after.value_or(TimePoint{});
  }
  /// This client does not ask before then.
  std::optional<TimePoint> ask_after() const {
    if (!any() || ask_after_ == TimePoint{}) return std::nullopt;
    return ask_after_;
  }

  /// A message arrived. Those of our own releases, `each` per release, arrive before their replies (or after: then they
  /// are expected, and not passed here). Whether this was one of them is only known from the reply. False: it was not.
  bool may_be_own(std::size_t each) {
    if (unclaimed_ >= under_way_ * each) return false;
    ++unclaimed_;
    return true;
  }
  /// An attempt found the lock taken, perhaps by a hold that is just being released. False: not so.
  bool overtakes() {
    if (any()) overtaken_ = 1;
    return any();
  }

  struct End {
    bool ask_again = false;  // what attempts found meanwhile may be outdated
    bool others = false;     // a message that arrived meanwhile was not our own
  };
  /// One release has an outcome, or was given up; `released`: by us.
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
  std::uint32_t unclaimed_ : 31 = 0;  // messages meanwhile that may be our releases' own
  std::uint32_t overtaken_ : 1 = 0;   // an attempt reached the server before our release
  TimePoint ask_after_{};             // none: at any time
};

}  // namespace holdfast::engine
