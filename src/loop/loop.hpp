// SPDX-License-Identifier: Apache-2.0
// The event loop of a client: on a thread of its own (OwnLoop), or as a guest on the caller's io_context (GuestLoop).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/clock.hpp"
#include "loop/alarm.hpp"
#include "loop/timer.hpp"

namespace holdfast::engine {

/// One thread at a time is inside, so what runs on it needs no mutex of its own.
class Loop {
 public:
  /// Something to be done on the loop.
  class Task {
   public:
    Task() = default;
    virtual ~Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    virtual void run() = 0;
    /// `run` has thrown: whoever waits for the task is told so.
    virtual void broken() noexcept {}

   private:
    friend class Loop;
    std::shared_ptr<Task> keep_;  // alive while it is in the inbox
    Task* next_ = nullptr;
  };

  virtual ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Its alarms.
  virtual timing::Schedule& schedule() = 0;
  /// For sockets, and whatever else has handlers that are to run on the loop.
  const boost::asio::any_io_executor& executor() { return schedule().executor(); }
  /// The calling thread is inside.
  virtual bool inside() const = 0;

  /// Runs a task on the loop, soon; a batch of them is settled together. From any thread; it takes no memory.
  /// A task that was posted and has not run must not be posted again.
  void post(std::shared_ptr<Task> task) noexcept;
  /// The same, in the calling thread if nobody drives the loop; `with_the_next`: settled with whatever comes next,
  /// within some milliseconds.
  enum class Pace { at_once, with_the_next };
  virtual void post_from_caller(std::shared_ptr<Task> task, Pace pace) = 0;

  /// Runs a function on the loop, soon. From any thread; to be preferred to asio's post, which does not know that the
  /// loop's own thread may have stepped aside, or what a guest must keep alive.
  template <class Function>
  void defer(Function function) {
    if (defers_by_ == DefersBy::posting) return post(std::make_shared<Deferred<Function>>(*this, std::move(function)));
    boost::asio::post(context_, std::move(function));
    nudge();
  }
  /// Forgets what was posted and has not run, and whatever is posted from now on: nobody drives the loop any more.
  virtual void shut() noexcept;

  /// Something was posted on the context.
  virtual void nudge() = 0;
  /// There is something to be sent, so many bytes by now, on the loop.
  virtual void to_be_settled(std::size_t bytes) = 0;
  /// The server has answered a command after so long, on the loop.
  virtual void answered(base::Duration took) = 0;

  /// As long as it lives somebody drives the loop, without a call that waits.
  class Attended {
   public:
    Attended() = default;
    explicit Attended(Loop& loop) : loop_(&loop) { loop.attend(); }
    Attended(Attended&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}
    Attended& operator=(Attended&& other) noexcept {
      std::swap(loop_, other.loop_);
      return *this;
    }
    Attended(const Attended&) = delete;
    Attended& operator=(const Attended&) = delete;
    ~Attended() {
      if (loop_ != nullptr) loop_->attended();
    }

   private:
    Loop* loop_ = nullptr;
  };

 protected:
  /// A guest posts a task; an own loop asks Asio, which has memory at hand.
  enum class DefersBy { posting, asio };

  /// `settle` is called on the loop after each piece of work: it sends in one write what that work has left to be sent.
  Loop(boost::asio::io_context& context, DefersBy defers_by, std::function<void()> settle);

  boost::asio::io_context& context() const { return context_; }
  void settle() { settle_(); }
  /// The first part of shut(): nothing is posted any more.
  void refuse() noexcept { shut_ = true; }
  bool is_shut() const noexcept { return shut_; }
  void empty_inbox() noexcept;
  bool inbox_empty() const { return inbox_.load(std::memory_order_relaxed) == nullptr; }
  /// The same, for the handler that was to do it.
  void take_inbox() noexcept;
  /// What a task throws is its own affair, and not that of other tasks or of whoever drives the loop.
  void run(Task& task) noexcept;

 private:
  template <class Function>
  class Deferred final : public Task {
   public:
    Deferred(Loop& loop, Function function) : loop_(loop), function_(std::move(function)) {}
    void run() override {
      Function function(std::move(function_));
      function();
    }
    void broken() noexcept override { loop_.trouble(); }

   private:
    Loop& loop_;
    Function function_;
  };

  /// A handler calls take_inbox(), soon. From any thread, and not again before that; takes no memory.
  virtual void wake() noexcept = 0;
  /// What was deferred by posting has thrown, as a handler may. On the loop.
  virtual void trouble() noexcept {}
  virtual void attend() = 0;
  virtual void attended() = 0;
  static Task* in_order(Task* newest);

  boost::asio::io_context& context_;
  const DefersBy defers_by_;
  const std::function<void()> settle_;
  std::atomic<Task*> inbox_{nullptr};  // the newest first
  std::atomic<bool> shut_{false};
  std::atomic<bool> emptying_{false};  // a handler that will empty it is queued
};

/// How many processors there are, besides the one that this thread is on, for threads that look and do not sleep,
/// without keeping the server or others from working.
int spare_processors();

}  // namespace holdfast::engine
