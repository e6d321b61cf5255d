// SPDX-License-Identifier: Apache-2.0
// Runs what belongs to the user: observer calls and loss callbacks, or stop callbacks.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "loop/timer.hpp"

namespace holdfast::engine {

/// Runs notices and events one after another, notices first: on a host's io_context, or on a thread of its own.
/// They must not throw; what they throw all the same is swallowed.
class Notifier {
 public:
  /// Something that must be told whatever happens, so posting it takes no memory. There are no more of them than holds.
  class Notice {
   public:
    Notice() = default;
    virtual ~Notice() = default;
    Notice(const Notice&) = delete;
    Notice& operator=(const Notice&) = delete;
    /// Called once, or `drop` is. May destroy it.
    virtual void run() = 0;
    virtual void drop() noexcept = 0;

   private:
    friend class Notifier;
    Notice* next_ = nullptr;
  };
  /// Looks after something now and then, between notices: returns when to call it next. Must not throw.
  using Watch = std::function<base::TimePoint()>;

  /// As many events wait at most.
  static constexpr std::size_t kMostEvents = 10'000;

  explicit Notifier(boost::asio::io_context* host = nullptr);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  /// Starts its thread, unless there is a host; once. With a watch it runs no signal handlers. Throws
  /// std::system_error if there is no thread to be had.
  void start(Watch watch = {});
  /// From any thread. False: dropped, since too many are waiting, or after stop().
  bool post(std::function<void()> event);
  /// The same; dropped after stop() only. It stays alive until it has run or was dropped.
  void post(Notice& notice) noexcept;
  /// The watch is called soon. From any thread.
  void wake() noexcept;
  /// Runs what is queued, then ends the thread. On a host, what is queued runs later, or is dropped with the host.
  /// Idempotent.
  void stop() noexcept;

 private:
  /// Outlives it on a host.
  struct Queue {
    ~Queue();
    bool empty() const HOLDFAST_REQUIRES(mutex) { return first == nullptr && events.empty(); }
    /// The next of them, which runs without the mutex.
    struct Next {
      Notice* notice = nullptr;
      std::function<void()> event;
      void run() noexcept;
    };
    Next take() HOLDFAST_REQUIRES(mutex);

    base::Mutex mutex;
    Notice* first HOLDFAST_GUARDED_BY(mutex) = nullptr;  // notices, the oldest first
    Notice* last HOLDFAST_GUARDED_BY(mutex) = nullptr;
    std::deque<std::function<void()>> events HOLDFAST_GUARDED_BY(mutex);
    bool stopping HOLDFAST_GUARDED_BY(mutex) = false;
    bool carried_on HOLDFAST_GUARDED_BY(mutex) = false;  // a host will run the next
    bool woken HOLDFAST_GUARDED_BY(mutex) = false;
    timing::HandlerSlot slot;  // for the handler that runs the next
  };

  void run();
  /// Something was queued: a host runs it.
  void carry_on() noexcept HOLDFAST_REQUIRES(queue_->mutex);
  static void run_next(boost::asio::io_context& host, std::shared_ptr<Queue> queue) noexcept;

  boost::asio::io_context* const host_;
  const std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  std::condition_variable wake_;
  Watch watch_;  // constant once the thread runs
  std::thread thread_;
};

}  // namespace holdfast::engine
