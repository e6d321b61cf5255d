// Releases that one primary has confirmed and the next one may not know of. Pure; time is an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/resp.hpp"
#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// Who heard of a release: so many clients elsewhere, on this channel. None: nobody, or they cannot be counted.
struct Audience {
  std::string channel{};
  std::int64_t others = 0;
};

struct ConfirmedRelease {
  base::Command command;
  Audience audience;
};

/// A failover can forget a release as well as a grant: what was given back to the old primary when its replicas did not
/// follow it any more is still taken at the new one, and nobody has it. So the latest releases are repeated there; each
/// can only hit its own acquisition, since an owner is used once. Not thread-safe.
class RecentReleases {
 public:
  static constexpr std::size_t kMost = 4096;
  /// How long a primary may go on taking releases after its successor has been chosen, as a rule.
  static constexpr Duration kWindow = std::chrono::seconds(5);

  /// `give_up`: when the server has certainly let the lease expire.
  void add(base::Command release, TimePoint now, TimePoint give_up, Audience audience = {});
  /// On a new connection: those that were confirmed in the last kWindow of the earlier one, and that still matter.
  /// `there`: whether a release is one of that server's.
  std::vector<ConfirmedRelease> to_repeat(
      TimePoint now,
      const std::function<bool(const base::Command&)>& there = [](const base::Command&) { return true; }) const;

 private:
  struct Release {
    ConfirmedRelease confirmed;
    TimePoint at{};
    TimePoint give_up{};
  };
  std::deque<Release> latest_;  // in order of time
};

}  // namespace holdfast::engine
