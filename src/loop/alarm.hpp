// SPDX-License-Identifier: Apache-2.0
// Alarms on an event loop: any number of them share one timer, and setting one does not allocate.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/intrusive/set.hpp>

#include "base/clock.hpp"
#include "loop/timer.hpp"

namespace holdfast::timing {

class Schedule;

/// Rings once each time it is set, on the loop; never after it was cancelled or destroyed. Use it on the loop; it may
/// be destroyed elsewhere if it is not set.
class Alarm {
 public:
  /// What happens when the client is closed: it rings at once, and at once whenever it is set afterwards; or nothing.
  enum class AtClose : bool { stays, rings };

  /// Anything that `ring` may destroy must keep itself alive meanwhile. What it throws goes to the loop; other alarms
  /// ring all the same.
  Alarm(Schedule& schedule, std::function<void()> ring, AtClose at_close = AtClose::stays);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  /// Replaces the time that it was set to; max(): it does not ring. `keep` stays alive until it has rung or was
  /// cancelled.
  void set(base::TimePoint time, std::shared_ptr<void> keep = {}) noexcept;
  void set_after(base::Duration time, std::shared_ptr<void> keep = {}) noexcept;
  /// The same, unless it is set to an earlier time: cheaper, where ringing too early does no harm.
  void set_by(base::TimePoint time) noexcept;
  void cancel() noexcept;
  bool is_set() const noexcept { return hook_.is_linked(); }

 private:
  friend class Schedule;
  using Hook = boost::intrusive::set_member_hook<>;

  Schedule& schedule_;
  const std::function<void()> ring_;
  const AtClose at_close_;
  base::TimePoint time_{};
  std::shared_ptr<void> keep_;
  Hook hook_;
};

/// All alarms of a loop. Use it on the loop, unless stated otherwise.
class Schedule {
 public:
  explicit Schedule(const boost::asio::any_io_executor& executor);
  /// Alarms that are still set will not ring.
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// For anything else that has to run on the loop.
  const boost::asio::any_io_executor& executor() const { return executor_; }
  /// Once, before the loop runs. See Timer::start.
  void start(std::weak_ptr<void> owner) { timer_.start(std::move(owner)); }
  /// When the next alarm rings; max(): none is set. From any thread.
  base::TimePoint next() const noexcept { return base::TimePoint(base::Duration(next_.load())); }
  /// The client is closed: see Alarm::AtClose. The loop runs out of work when no alarm is set any more.
  void close() noexcept;
  /// Nothing rings any more, and what was kept alive is released.
  void drop_all() noexcept;

 private:
  friend class Alarm;
  struct Earlier {
    bool operator()(const Alarm& a, const Alarm& b) const { return a.time_ < b.time_; }
  };
  using Alarms =
      boost::intrusive::multiset<Alarm, boost::intrusive::member_hook<Alarm, Alarm::Hook, &Alarm::hook_>,
                                 boost::intrusive::compare<Earlier>, boost::intrusive::constant_time_size<false>>;

  void add(Alarm& alarm) noexcept;
  void remove(Alarm& alarm) noexcept;
  void note_next() noexcept;
  void on_time();

  const boost::asio::any_io_executor executor_;
  Alarms alarms_;
  std::atomic<base::Duration::rep> next_{base::TimePoint::max().time_since_epoch().count()};
  bool closed_ = false;
  Timer timer_;
};

}  // namespace holdfast::timing
