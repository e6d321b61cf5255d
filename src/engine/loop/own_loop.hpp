// A client's own event loop, and who drives it: its own thread, or a caller for the length of a round trip.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "base/guarded.hpp"
#include "engine/loop/driver_seat.hpp"
#include "engine/loop/loop.hpp"

namespace holdfast::engine {

/// What a caller of a client's own loop waits for. Set once, by OwnLoop::set.
class Answer {
 public:
  bool is_there() const { return state_.load() == kThere; }
  /// It will not come with the next reply, so its caller need not drive the loop for it. On the loop.
  void comes_late() { late_.store(true, std::memory_order_relaxed); }

 private:
  friend class OwnLoop;
  static constexpr std::uint32_t kOpen = 0, kSleptFor = 1, kThere = 2;

  /// Sleeps until it is there, or for `limit`; perhaps for less.
  void sleep(base::Duration limit) noexcept {
    std::uint32_t seen = kOpen;
    if (state_.compare_exchange_strong(seen, kSleptFor) || seen == kSleptFor) base::sleep_on(state_, kSleptFor, limit);
  }
  /// True: its caller may be asleep and must be woken.
  bool set() noexcept { return state_.exchange(kThere) == kSleptFor; }

  base::Word state_{kOpen};
  std::atomic<bool> late_{false};
  std::atomic<const void*> driver_{nullptr};  // the caller's thread, while it drives
};

/// Where the own thread of a loop waits while callers drive. For one thread; whoever calls it may be any.
class Parking {
 public:
  /// It is to drive again.
  void want() { call(wanted_); }
  /// It is to look in before its time.
  void nudge() { call(nudged_); }

  /// Waits for so long, or until it is called; not at all if it was called since the last time. True: it is wanted.
  bool wait(base::Duration limit) {
    base::WaitingGuard guard(mutex_);
    guard.wait_for(called_, limit, [this]() HOLDFAST_REQUIRES(mutex_) { return wanted_ || nudged_; });
    nudged_ = false;
    return wanted_;
  }
  /// It drives again.
  void leave() {
    const base::Guard guard(mutex_);
    wanted_ = nudged_ = false;
  }

  /// For whoever ends the thread: waits until that holds, which is looked at with each call, or for so long.
  template <class Condition>
  void wait_for(base::Duration limit, Condition condition) {
    base::WaitingGuard guard(mutex_);
    guard.wait_for(called_, limit, condition);
  }

 private:
  void call(bool& what) {
    const base::Guard guard(mutex_);
    what = true;
    called_.notify_all();
  }

  base::Mutex mutex_;
  std::condition_variable called_;
  bool wanted_ = false;  // guarded by mutex_, as are the others: clang cannot follow call()
  bool nudged_ = false;
};

/// The callers to be woken once everything that a piece of work had to send has been sent. For whoever has the wheel.
class WakeList {
 public:
  static constexpr std::size_t kMost = 64;

  /// False: there is no room.
  bool add(const base::Word& word) noexcept {
    if (count_ == kMost) return false;
    words_[count_++] = &word;
    return true;
  }

  /// Wakes all in order, also those that are added meanwhile. `after` is called after each with the number of those
  /// that have been woken, and may add more.
  template <class After>
  void wake_all(After after) noexcept {
    for (std::size_t woken = 0; woken < count_;) {
      base::wake_at(words_[woken]);
      after(++woken);
    }
    count_ = 0;
  }

 private:
  std::array<const base::Word*, kMost> words_{};
  std::size_t count_ = 0;
};

/// What OwnLoop has before its base class is made.
struct OwnContext {
  timing::HandlerSlot wake_slot;
  boost::asio::io_context own_context{1};
};

/// A caller that comes while nobody else does drives the loop itself for a round trip: its command then costs no switch
/// between threads. It takes the wheel for what there is to be done, and waits for the server without it, so that a
/// thread that is held up while it waits holds up nobody else. As long as callers come one by one, the loop's own
/// thread steps aside, and looks in after a millisecond, then less and less often; when they come together, or not at
/// all, do not wait for their answers, or wait longer than a round trip, it drives the loop again. After callers have
/// come together it goes on for a millisecond: handing the wheel back and forth costs more than either way.
class OwnLoop : private OwnContext, public Loop {
 public:
  using Sockets = DriverSeat::Sockets;
  /// What the loop asks of its owner.
  struct Hooks {
    /// See Loop.
    std::function<void()> settle;
    /// What a driver waits for: the connections to the server; -1: none. On the loop.
    std::function<Sockets()> sockets = [] { return Sockets{-1, -1}; };
    /// A handler has thrown, perhaps half way through: makes good what it can have left behind. Called again soon if
    /// that throws. On the loop.
    std::function<void()> recover = [] {};
  };
  explicit OwnLoop(Hooks hooks);
  ~OwnLoop() override;
  /// Starts its own thread; once, before anything is called or posted. Throws std::system_error if there is none.
  void start();

  timing::Schedule& schedule() override { return schedule_; }
  bool inside() const override;
  void post_from_caller(std::shared_ptr<Task> task, Pace pace) override;
  void nudge() override;
  void to_be_settled(std::size_t) override {}  // it will be, like all work
  void answered(base::Duration) override {}

  /// Runs a task on the loop, and waits until the answer is set, until `until`, or until the loop is over. The answer
  /// belongs to the task. Not from the loop itself.
  void call(std::shared_ptr<Task> task, Answer& answer, base::TimePoint until);
  /// From any thread, once for each call. Whoever calls it keeps the task alive meanwhile.
  void set(Answer& answer) noexcept;

  /// Lets the loop run out of work, `limit` at most, then stops it and ends its thread. Idempotent.
  void finish(base::Duration limit);

 private:
  static constexpr base::Duration kAside = std::chrono::seconds(1);          // after the last call
  static constexpr base::Duration kTogether = std::chrono::milliseconds(1);  // after the last that was not alone
  static constexpr base::Duration kLookIn = std::chrono::milliseconds(1);
  static constexpr base::Duration kRarestLookIn = std::chrono::milliseconds(32);
  static constexpr base::Duration kLongestDrive = std::chrono::milliseconds(5);
  static constexpr base::Duration kLongestSleep = std::chrono::milliseconds(500);
  static constexpr base::Duration kTryAgain = std::chrono::milliseconds(10);
  static constexpr std::size_t kAtOnce = 8;  // callers are woken before the loop looks for what they ask next
  static constexpr int kPatientLooks = 3;    // at a caller that drives and makes no progress
  static constexpr int kMostLeft = 100'000;  // handlers that are ready when it has ended

  void run();
  void run_one();
  bool run_ready() noexcept;
  void settle_work() noexcept;
  void send_out() noexcept;
  void wake_answered() noexcept;
  bool callers_come_one_by_one() const;
  void step_aside();
  void look_in();
  std::optional<Sockets> run_here(Task& task);
  void drive(Answer& answer, Sockets sockets, base::TimePoint until, const sigset_t& signals);
  void wait(Answer& answer, base::TimePoint until);
  void run_left() noexcept;
  void wake() noexcept override {
    timing::post_in(wake_slot, own_context, [this] { take_inbox(); });
    nudge();
  }
  void attend() override;
  void attended() override;

  /// Its own thread is to end: part of the loop.
  struct RunOut final : Task {
    explicit RunOut(OwnLoop& whose) : loop(whose) {}
    void run() override { loop.schedule_.close(); }
    OwnLoop& loop;
  };

  const Hooks hooks_;
  timing::Schedule schedule_{own_context.get_executor()};
  RunOut run_out_{*this};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;

  std::mutex wheel_;  // only who has it drives
  // With the wheel, in whatever form (clang cannot follow CallersWheel): something was thrown, and `recover` has not
  // run to its end yet.
  bool troubled_ = false;
  WakeList answered_;               // callers who sleep; with the wheel
  std::atomic<bool> ended_{false};  // nobody drives it any more
  DriverSeat seat_;
  std::atomic<int> waiting_{0};                   // calls without an answer
  std::atomic<int> attending_{0};                 // how many Attended live
  std::atomic<bool> aside_{false};                // its own thread, at present
  std::atomic<unsigned> calls_{0};                // so far
  std::atomic<bool> looks_in_rarely_{false};      // its own thread, at present
  std::atomic<base::Clock::rep> aside_until_{0};  // callers have come one by one so far
  std::atomic<base::Clock::rep> together_until_{0};

  Parking parking_;
  std::thread thread_;
};

}  // namespace holdfast::engine
