// A client's own event loop, and who turns it: its own thread, or a caller that would only wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>

#include "base/clock.hpp"
#include "engine/loop.hpp"

namespace holdfast::engine {

/// What OwnLoop has before its base class is made.
struct OwnContext {
  boost::asio::io_context own_context{1};
};

/// A caller that waits for an answer while nobody else does turns the loop itself: its command then costs no switch
/// between threads. As long as callers come one by one, the loop's own thread steps aside, and looks in after a
/// millisecond, then less and less often; when they come together, or not at all, or do not wait for their answers, it
/// turns the loop again.
class OwnLoop : private OwnContext, public Loop {
 public:
  /// What a caller waits for.
  class Answer {
   public:
    bool is_there() const { return there_.load(std::memory_order_acquire); }

   private:
    friend class OwnLoop;
    std::atomic<bool> there_{false};
    std::mutex mutex_;
    std::condition_variable arrived_;
  };

  /// `next_due` says when a timer that must not be late will ring; from any thread.
  OwnLoop(std::function<void()> settle, std::function<base::TimePoint()> next_due);
  ~OwnLoop() override;
  /// Starts its own thread; once, before anything is called or posted.
  void start();

  bool inside() const override;
  void post_from_caller(std::shared_ptr<Task> task, Pace pace) override;
  void nudge() override;
  void to_be_settled(std::size_t) override {}  // it will be, like all work

  /// Runs a task on the loop, and waits until the answer is set, until `until`, or until the loop is over. The answer
  /// belongs to the task. Not from the loop itself.
  void call(std::shared_ptr<Task> task, Answer& answer, base::TimePoint until);
  /// From any thread, once for each call. Whoever calls it keeps the task alive meanwhile.
  void set(Answer& answer);

  /// Lets the loop run out of work, `limit` at most, then stops it and ends its thread. Idempotent.
  void finish(base::Duration limit);

 private:
  static constexpr base::Duration kAside = std::chrono::seconds(1);  // after the last call
  static constexpr base::Duration kLookIn = std::chrono::milliseconds(1);
  static constexpr base::Duration kRarestLookIn = std::chrono::milliseconds(32);
  static constexpr base::Duration kShortestSpin = std::chrono::microseconds(10);
  static constexpr base::Duration kLongestSpin = std::chrono::microseconds(120);
  static constexpr base::Duration kLongestSleep = std::chrono::milliseconds(500);

  void run();
  std::size_t run_one(base::TimePoint until);
  bool callers_come_one_by_one() const;
  void step_aside();
  void look_in();
  void want_own_thread();
  void turn(Task& task, Answer& answer, base::TimePoint until);
  void wait(Answer& answer, base::TimePoint until);
  void attend() override;
  void attended() override;

  const std::function<base::TimePoint()> next_due_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;

  std::atomic<base::Duration> spin_{};  // written by whoever has the turn

  std::mutex turn_;                               // whose turn it is
  std::atomic<int> waiting_{0};                   // calls without an answer
  std::atomic<int> attending_{0};                 // what lives of Attended
  std::atomic<bool> aside_{false};                // its own thread, at present
  std::atomic<unsigned> calls_{0};                // so far
  std::atomic<bool> looks_in_rarely_{false};      // its own thread, at present
  std::atomic<base::Clock::rep> aside_until_{0};  // callers have come one by one so far

  std::mutex parked_mutex_;
  std::condition_variable parked_;
  bool wanted_ = false;  // guarded by parked_mutex_
  bool nudged_ = false;  // guarded by parked_mutex_
  bool over_ = false;    // guarded by parked_mutex_
  std::thread thread_;
};

}  // namespace holdfast::engine
