// SPDX-License-Identifier: Apache-2.0
// Releases that one primary has confirmed and the next one may not have. Pure; time is an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/resp.hpp"
#include "lock/decide/lease.hpp"

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

/// When releases that only the old primary may have seen are repeated at the new one. Pure; time is an input. A lock
/// released at the old primary may have been granted there again, and that grant is also lost in the failover: as long
/// as any client still uses the old primary, a lock that is free at the new one can have two holders. Clients cannot be
/// asked whether they have left. But clients that contend for a lock listen to it: once as many listen at the new
/// primary as received its releases of the last seconds, all of them have left the old one, and have renewed their
/// holds at the new one. If none is known, or they do not come, a second must be enough. Not thread-safe.
class LateBatch {
 public:
  static constexpr Duration kPause = std::chrono::seconds(1);
  /// The first pause between looks; it doubles each time.
  static constexpr Duration kFirstLook = std::chrono::milliseconds(10);
  /// All must be there at two looks this far apart: by then each knows what it has lost.
  static constexpr Duration kStay = std::chrono::milliseconds(50);
  /// The most locks that are looked at; others wait for the second.
  static constexpr std::size_t kMostLooked = 64;

  /// `now`: when the new primary was connected.
  LateBatch(std::vector<ConfirmedRelease> releases, TimePoint now);

  /// When on_time() is next due.
  TimePoint due() const;
  bool over() const { return left_ == 0; }
  std::size_t releases() const { return left_; }

  struct Step {
    std::vector<base::Command> repeat{};
    std::vector<std::size_t> look{};  ///< Locks, by number, whose listeners should be counted: on_look().
  };
  Step on_time(TimePoint now);
  /// `others`: how many other clients listen to that channel at the new primary; empty: unknown. Returns the releases
  /// to repeat.
  std::vector<base::Command> on_look(TimePoint now, std::size_t number, std::optional<std::int64_t> others);

  const std::string& channel(std::size_t number) const { return locks_[number].channel; }
  /// The lock's key on the wire.
  std::string_view key(std::size_t number) const;

 private:
  struct Locked {
    std::string channel{};
    std::int64_t others = 0;  // the most that received one of its releases
    std::optional<TimePoint> there_since{};
    std::vector<base::Command> releases{};  // none: they have been repeated
  };
  std::vector<base::Command> take(std::vector<base::Command>& from);

  const TimePoint end_;
  TimePoint next_look_;
  Duration pause_ = kFirstLook;
  std::vector<Locked> locks_;
  std::vector<base::Command> rest_;  // with no known recipients
  std::size_t left_;
};

}  // namespace holdfast::engine
