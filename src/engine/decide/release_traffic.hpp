// Messages and attempts that cross pending releases of one lock, as pure decisions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::engine {

/// For one client. Not thread-safe; the target guards it.
class ReleaseTraffic {
 public:
  bool any() const { return under_way_ > 0; }

  /// A release is sent. `goes_first`: this client does not ask before the outcome, if that comes soon.
  void begin(bool goes_first) {
    ++under_way_;
    goes_first_ = goes_first ? 1 : 0;
  }
  bool goes_first() const { return any() && goes_first_ == 1; }

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
    End end{overtaken_ == 1 || goes_first_ == 1, !any() && unclaimed_ > 0 && !released};
    overtaken_ = 0;
    if (!any()) unclaimed_ = 0;
    return end;
  }

 private:
  // There may be millions: no larger than it must be.
  std::uint32_t under_way_ = 0;
  std::uint32_t unclaimed_ : 30 = 0;  // messages meanwhile that may be our releases' own
  std::uint32_t overtaken_ : 1 = 0;   // an attempt reached the server before our release
  std::uint32_t goes_first_ : 1 = 0;  // the latest release
};

}  // namespace holdfast::engine
