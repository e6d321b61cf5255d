// Releases that one primary has confirmed and the next one may not have. Pure; time is an input.
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

/// Who received a release: this many other clients, on this channel. None: nobody, or unknown.
struct Audience {
  std::string channel{};
  std::int64_t others = 0;
};

struct ConfirmedRelease {
  base::Command command;
  Audience audience;
};

/// A failover can lose a release as well as a grant: a lock released at the old primary after its replicas stopped
/// following is still taken at the new one, without a holder. So the latest releases are repeated there; each affects
/// only its own acquisition, since an owner is used once. Not thread-safe.
class RecentReleases {
 public:
  static constexpr std::size_t kMost = 4096;
  /// How long a primary usually keeps accepting releases after its successor has been chosen.
  static constexpr Duration kWindow = std::chrono::seconds(5);

  /// `give_up`: when the lease has certainly expired at the server.
  void add(base::Command release, TimePoint now, TimePoint give_up, Audience audience = {});
  /// On a new connection: the releases confirmed in the last kWindow of the earlier one that still matter. `there`:
  /// whether a release belongs to that server.
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
