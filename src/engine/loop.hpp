// The event loop of a client, and who turns it: its own thread, or a caller that would only wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/clock.hpp"

namespace holdfast::engine {

/// One thread at a time turns the loop, so what runs on it needs no mutex of its own. A caller that waits for an answer
/// while nobody else does turns the loop itself: its command then costs no switch between threads. As long as callers
/// come one by one, the loop's own thread steps aside and looks in every millisecond; when they come together, or not
/// at all, it turns the loop again.
class Loop {
 public:
  /// What a caller waits for.
  class Answer {
   public:
    bool is_there() const { return there_.load(std::memory_order_acquire); }

   private:
    friend class Loop;
    std::atomic<bool> there_{false};
    std::mutex mutex_;
    std::condition_variable arrived_;
  };

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  boost::asio::io_context& context() { return context_; }
  /// The calling thread is turning this loop.
  bool inside() const;

  /// Starts a piece of work on the loop, and waits until its answer is set, until `until`, or until the loop is over.
  /// Not from the loop itself.
  template <class Start>
  void call(Start start, Answer& answer, base::TimePoint until) {
    if (waiting_.fetch_add(1) == 0) {
      aside_until_.store((base::Clock::now() + kAside).time_since_epoch().count(), std::memory_order_relaxed);
    }
    if (turn_.try_lock()) {
      start();
      turn(answer, until);
    } else {
      boost::asio::post(context_, std::move(start));
      wait(answer, until);
    }
  }

  /// From any thread, once for each call.
  void set(Answer& answer);

  /// Lets the loop run out of work, `limit` at most, then stops it and ends its thread. Idempotent.
  void finish(base::Duration limit);

 private:
  static constexpr base::Duration kAside = std::chrono::milliseconds(2);
  static constexpr base::Duration kLookIn = std::chrono::milliseconds(1);
  static constexpr base::Duration kLongestSleep = std::chrono::milliseconds(500);

  void run();
  bool callers_come_one_by_one() const;
  void step_aside();
  void want_own_thread();
  void turn(Answer& answer, base::TimePoint until);
  void wait(Answer& answer, base::TimePoint until);

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;

  std::mutex turn_;                               // whose turn it is
  std::atomic<int> waiting_{0};                   // calls without an answer
  std::atomic<base::Clock::rep> aside_until_{0};  // callers have come one by one so far

  std::mutex parked_mutex_;
  std::condition_variable parked_;
  bool wanted_ = false;  // guarded by parked_mutex_
  bool over_ = false;    // guarded by parked_mutex_
  std::thread thread_;
};

}  // namespace holdfast::engine
