// The event loop of a client, and who turns it: its own thread, or a caller that would only wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
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
/// come one by one, the loop's own thread steps aside, and looks in after a millisecond, then less and less often; when
/// they come together, or not at all, it turns the loop again.
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

  /// Something to be done on the loop.
  class Task {
   public:
    Task() = default;
    virtual ~Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    virtual void run() = 0;

   private:
    friend class Loop;
    std::shared_ptr<Task> keep_;  // alive while it is in the inbox
    Task* next_ = nullptr;
  };

  /// `settle` is called on the loop after each piece of work: what that has left to be sent is sent now, in one write.
  /// `next_due` says when a timer that must not be late will ring; from any thread.
  Loop(std::function<void()> settle, std::function<base::TimePoint()> next_due);
  ~Loop();
  /// Starts its own thread; once, before anything is called or posted.
  void start();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  boost::asio::io_context& context() { return context_; }
  /// The calling thread is turning this loop.
  bool inside() const;

  /// Runs a task on the loop, and waits until the answer is set, until `until`, or until the loop is over. The answer
  /// belongs to the task. Not from the loop itself.
  void call(std::shared_ptr<Task> task, Answer& answer, base::TimePoint until);
  /// Runs a task on the loop, soon; a batch of them is settled together. From any thread.
  void post(std::shared_ptr<Task> task);
  /// The same, in the calling thread if nobody turns the loop; `with_the_next`: settled with whatever comes next,
  /// within some kLookIn.
  enum class Pace { at_once, with_the_next };
  void post_from_caller(std::shared_ptr<Task> task, Pace pace);

  /// Runs a function on the loop, soon. From any thread; to be preferred to asio's post, which does not know that the
  /// loop's own thread may have stepped aside.
  template <class Function>
  void defer(Function function) {
    boost::asio::post(context_, std::move(function));
    nudge();
  }
  /// Something was posted on the context.
  void nudge();

  /// From any thread, once for each call. Whoever calls it keeps the task alive meanwhile.
  void set(Answer& answer);

  /// Lets the loop run out of work, `limit` at most, then stops it and ends its thread. Idempotent.
  void finish(base::Duration limit);

 private:
  static constexpr base::Duration kAside = std::chrono::seconds(1);  // after the last call
  static constexpr base::Duration kLookIn = std::chrono::milliseconds(1);
  static constexpr base::Duration kRarestLookIn = std::chrono::milliseconds(32);
  static constexpr base::Duration kShortestSpin = std::chrono::microseconds(10);
  static constexpr base::Duration kLongestSpin = std::chrono::microseconds(50);
  static constexpr base::Duration kLongestSleep = std::chrono::milliseconds(500);

  void run();
  std::size_t run_one(base::TimePoint until);
  bool callers_come_one_by_one() const;
  void step_aside();
  void look_in();
  void want_own_thread();
  void turn(Task& task, Answer& answer, base::TimePoint until);
  void wait(Answer& answer, base::TimePoint until);
  void empty_inbox();
  static Task* in_order(Task* newest);

  const std::function<void()> settle_;
  const std::function<base::TimePoint()> next_due_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;

  std::atomic<base::Duration> spin_{};  // written by whoever has the turn

  std::atomic<Task*> inbox_{nullptr};             // the newest first
  std::mutex turn_;                               // whose turn it is
  std::atomic<int> waiting_{0};                   // calls without an answer
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
