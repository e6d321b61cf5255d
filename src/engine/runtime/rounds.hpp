// Questions to several clients, each with a limit in time that one of these clients keeps.
#pragma once

#include <map>
#include <memory>

#include "engine/decide/lease.hpp"
#include "timing/timer.hpp"

namespace holdfast::engine {

class Runtime;

/// What the members of a group are asked at the same time. It belongs to the client that serves the group and ends on
/// its loop: when it is decided, or when its time is over, whatever the other members' clients do or leave undone.
class Round : public std::enable_shared_from_this<Round> {
 public:
  Round() = default;
  virtual ~Round() = default;
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

 protected:
  /// What has not been heard by now counts as silence. Called once at most, after which it is not under way any more.
  virtual void on_limit() = 0;

 private:
  friend class Rounds;
  std::multimap<TimePoint, std::shared_ptr<Round>>::iterator place_;
  bool under_way_ = false;
};

/// The rounds that are under way, which it keeps alive, and one timer for all. On the loop.
class Rounds {
 public:
  /// `runtime` is the one that this belongs to.
  explicit Rounds(Runtime& runtime);

  /// Begins a round, or gives it another limit.
  void limit(Round& round, TimePoint limit);
  void end(Round& round);
  /// All are at their limits, and none begins any more.
  void close();
  /// Forgets them, without a word.
  void drop_all();

 private:
  void take_out(Round& round);
  void set_timer() noexcept;
  void on_timer() noexcept;
  void end_all() noexcept;
  void end_first() noexcept;

  Runtime& runtime_;
  timing::Timer timer_;
  TimePoint timer_at_ = TimePoint::max();
  std::multimap<TimePoint, std::shared_ptr<Round>> by_limit_;
  bool closed_ = false;
};

}  // namespace holdfast::engine
