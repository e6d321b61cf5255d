// The event loop of a client: on a thread of its own (OwnLoop), or as a guest on the caller's io_context (GuestLoop).
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

namespace holdfast::engine {

/// The memory of the one handler that empties an own loop's inbox: to wake the loop must not need more.
struct WakeSlot {
  alignas(std::max_align_t) std::byte bytes[256] = {};
};

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

  /// For timers and sockets whose handlers are to run on the loop.
  boost::asio::any_io_executor executor() const;
  /// The calling thread is inside.
  virtual bool inside() const = 0;

  /// Runs a task on the loop, soon; a batch of them is settled together. From any thread; on an own loop it takes no
  /// memory. A task that was posted and has not run must not be posted again.
  void post(std::shared_ptr<Task> task) noexcept;
  /// The same, in the calling thread if nobody drives the loop; `with_the_next`: settled with whatever comes next,
  /// within some milliseconds.
  enum class Pace { at_once, with_the_next };
  virtual void post_from_caller(std::shared_ptr<Task> task, Pace pace) = 0;

  /// Runs a function on the loop, soon. From any thread; to be preferred to asio's post, which does not know that the
  /// loop's own thread may have stepped aside, or what a guest must keep alive.
  template <class Function>
  void defer(Function function) {
    if (strand_) {
      if (shut_) return;
      boost::asio::post(*strand_, [keep = keep_.lock(), function = std::move(function)]() mutable { function(); });
    } else {
      boost::asio::post(context_, std::move(function));
      nudge();
    }
  }
  /// Forgets what was posted and has not run, and whatever is posted from now on: nobody drives the loop any more.
  void shut() noexcept;

  /// Something was posted on the context.
  virtual void nudge() = 0;
  /// There is something to be sent, so many bytes by now, on the loop.
  virtual void to_be_settled(std::size_t bytes) = 0;

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
  using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;

  /// `settle` is called on the loop after each piece of work: what that has left to be sent is sent now, in one write.
  /// With `keep`, handlers keep that alive.
  /// The slot lives as long as the context; a guest has a strand instead.
  Loop(boost::asio::io_context& context, WakeSlot* slot, std::optional<Strand> strand, std::function<void()> settle);

  boost::asio::io_context& context() { return context_; }
  const std::optional<Strand>& strand() const { return strand_; }
  void keep(std::weak_ptr<void> owner) { keep_ = std::move(owner); }
  void settle() { settle_(); }
  void empty_inbox() noexcept;
  /// What a task throws is its own affair, and not that of other tasks or of whoever drives the loop.
  static void run(Task& task) noexcept;

 private:
  template <class T>
  struct InSlot;

  virtual void attend() = 0;
  virtual void attended() = 0;
  void wake_for_inbox();
  static Task* in_order(Task* newest);

  boost::asio::io_context& context_;
  const std::optional<Strand> strand_;  // a guest's
  std::weak_ptr<void> keep_;            // what a guest's handlers keep alive
  const std::function<void()> settle_;
  std::atomic<Task*> inbox_{nullptr};  // the newest first
  std::atomic<bool> shut_{false};
  std::atomic<bool> emptying_{false};  // a handler that will empty it is queued
  WakeSlot* const slot_;               // for that handler; a guest has none
};

}  // namespace holdfast::engine
