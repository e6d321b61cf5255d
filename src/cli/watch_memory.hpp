// SPDX-License-Identifier: Apache-2.0
// What `holdfast watch` knows of a server's locks, and what follows from a new look at them: events. Pure; times are
// inputs.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "cli/kinds.hpp"

namespace holdfast::cli {

/// Whether a name matches a pattern, as SCAN has it.
bool matches(std::string_view pattern, std::string_view name);
/// How each name that matches it begins.
std::string beginning_of(std::string_view pattern);

/// What has happened to a lock, as far as two looks tell. A release and a lock that is taken away leave the same.
struct WatchEvent {
  enum class What {
    held,      ///< At the first look.
    taken,     ///< Nobody had it, or others have it too.
    released,  ///< Before its time was over: given back, or taken away.
    expired,   ///< Once its time was over.
    ended,     ///< One of the two, while nobody looked.
    changed,   ///< It changed hands.
  };
  What what = What::held;
  LockKind kind = LockKind::lock;
  std::string name;
  LockHolder holder;                   ///< Who has it, or had it if it has ended.
  std::optional<LockHolder> before{};  ///< Who had it, if it changed hands.
  base::TimePoint told{};              ///< When it was noticed.
  bool late = false;                   ///< It may have happened long before.
};

class WatchMemory {
 public:
  /// So many locks are known at once.
  static constexpr std::size_t kMostLocks = 200'000;
  /// A server names no more holders of one name. Then nobody can tell who has come or gone.
  static constexpr std::size_t kMostHolders = 1000;

  /// About a look: times to live count from `asked`, and what it finds was noticed when it was `told`.
  struct Look {
    base::TimePoint asked{};
    base::TimePoint told{};
    bool late = false;
  };
  /// A look at one name; empty: nobody has it.
  std::vector<WatchEvent> take(const std::string& name, const FoundLock* found, const Look& look);
  /// A look at all names, apart from those of which it is known that there is more to see. The first finds what is
  /// held.
  std::vector<WatchEvent> take_all(const std::vector<FoundLock>& found, const Look& look,
                                   const std::function<bool(const std::string&)>& apart);

  /// Whether each holder of it is known already.
  bool knows(const FoundLock& found) const;
  bool is_full() const { return locks_.size() >= kMostLocks; }
  /// Names whose earliest lease ended before then; the others, when the next one ends.
  std::vector<std::string> ended_by(base::TimePoint time) const;
  std::optional<base::TimePoint> next_end() const;

 private:
  struct Held {
    LockHolder holder;
    std::optional<base::TimePoint> end{};
  };
  using Who = std::pair<std::string, LockHolder::Mode>;
  using Holders = std::map<Who, Held>;
  struct Known {
    LockKind kind = LockKind::lock;
    Holders holders{};
    std::optional<base::TimePoint> end{};  // of the earliest lease
  };

  static Holders holders_of(const FoundLock& found, const Look& look);
  void compare(std::vector<WatchEvent>& events, const std::string& name, const FoundLock* found, const Look& look);
  void keep(const std::string& name, const FoundLock* found, Holders now);

  std::map<std::string, Known> locks_;
  std::set<std::pair<base::TimePoint, std::string_view>> ends_;  // of the names in locks_
  bool begun_ = false;
};

}  // namespace holdfast::cli
