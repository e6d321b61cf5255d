// SPDX-License-Identifier: Apache-2.0
// A client's own event loop, and who drives it: its own thread, or a caller for the length of a round trip.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <signal.h>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>

#include "base/clock.hpp"
#include "loop/loop.hpp"
#include "system/system.hpp"

namespace holdfast::engine {

/// What one thread waits for and others set: a word to sleep on, without a lock.
class Awaited {
 public:
  bool is_set() const { return word_.load() == kSet; }
  /// True: somebody may be asleep, and must be woken.
  bool set() noexcept { return word_.exchange(kSet) == kSleptFor; }
  /// Wakes who sleeps there. It is not looked at: there may be something else by now, which is woken for nothing if it
  /// is such a word as well.
  static void wake(const Awaited* there) noexcept { system::wake_one(there); }

  /// For the thread that waits: sleeps until it is set, or for `limit`; perhaps for less.
  void sleep(base::Duration limit) noexcept;
  /// For that thread: waits for the next time.
  void clear() noexcept { word_.store(kOpen); }

 private:
  static constexpr std::uint32_t kOpen = 0, kSleptFor = 1, kSet = 2;
  std::atomic<std::uint32_t> word_{kOpen};
};

/// What a caller of a client's own loop waits for. Set once, by OwnLoop::set.
class Answer {
 public:
  bool is_there() const { return there_.is_set(); }
  /// It will not come with the next reply, so its caller need not drive the loop for it. On the loop.
  void comes_late() { late_.store(true, std::memory_order_relaxed); }

 private:
  friend class OwnLoop;
  Awaited there_;
  std::atomic<bool> late_{false};
  std::atomic<const void*> driver_{nullptr};  // the caller's thread, while it drives
};

/// Where a caller waits for the server while it drives the loop: on the connection itself, without the loop.
/// For one caller at a time. It also keeps how long the latest waits took. A wait that is likely to be short is spent
/// looking, since falling asleep and being woken costs more than a round trip to a server nearby: as long as waits are
/// shorter than kLongestSpin it looks for that long (as KVM polls before it halts). It sleeps while it waits for
/// servers that are far away, and while nobody calls.
class DriverSeat {
 public:
  static constexpr base::Duration kLongestSpin = std::chrono::microseconds(120);

  /// Throws std::system_error if there is no descriptor to be had.
  DriverSeat() = default;
  DriverSeat(const DriverSeat&) = delete;
  DriverSeat& operator=(const DriverSeat&) = delete;

  /// True if it was free.
  bool take() { return !taken_.exchange(true); }
  void leave() { taken_.store(false); }
  bool taken() const { return taken_.load(); }

  /// -1: nothing to wait for.
  using Sockets = std::array<int, 2>;
  /// Waits until something has come on a socket, somebody wakes it, or the time is over: then false. While the thread
  /// sleeps `signals` are blocked.
  bool wait(const Sockets& sockets, base::TimePoint until, const sigset_t& signals);
  /// Ends the wait of whoever is in the seat, or its next one. From any thread.
  void wake() noexcept { woken_.ring(); }

  /// How long to look before falling asleep.
  base::Duration spin() const { return spin_.load(std::memory_order_relaxed); }
  /// Between two looks: yields, so that callers that have been woken run before the loop's own thread looks again. Not
  /// if others have recently kept the processor for long: a thread that sleeps gets it back sooner than one that
  /// yields. Returns the time.
  base::TimePoint pause(base::TimePoint now) noexcept;
  /// Notes how long a wait for the server took.
  void waited(base::Duration time);

 private:
  static constexpr base::Duration kShortestSpin = std::chrono::microseconds(10);
  static constexpr base::Duration kCrowded = std::chrono::microseconds(500);   // a yield that takes longer
  static constexpr base::Duration kNoYields = std::chrono::milliseconds(100);  // after that

  const system::Bell woken_;
  std::atomic<bool> taken_{false};
  std::atomic<base::Duration> spin_{};
  base::TimePoint yields_from_{};  // with the wheel
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

  /// So many callers who sleep are woken behind what a piece of work sends; whoever comes beyond that at once.
  static constexpr std::size_t kMostAnswered = 64;

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
  void call_thread() noexcept;
  void want_thread() noexcept;
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
  // With the wheel, in whatever form (clang cannot follow Wheel): something was thrown, and `recover` has not
  // run to its end yet.
  bool troubled_ = false;
  // With the wheel: callers who sleep, to be woken once everything that a piece of work had to send has been sent.
  std::array<const Awaited*, kMostAnswered> answered_{};
  std::size_t answered_count_ = 0;
  std::atomic<bool> ended_{false};  // nobody drives it any more
  DriverSeat seat_;
  std::atomic<int> waiting_{0};                   // calls without an answer
  std::atomic<int> attending_{0};                 // how many Attended live
  std::atomic<bool> aside_{false};                // its own thread, at present
  std::atomic<unsigned> calls_{0};                // so far
  std::atomic<bool> looks_in_rarely_{false};      // its own thread, at present
  std::atomic<base::Clock::rep> aside_until_{0};  // callers have come one by one so far
  std::atomic<base::Clock::rep> together_until_{0};

  Awaited called_;                   // its own thread, while it is aside
  std::atomic<bool> wanted_{false};  // that is to drive again, and not only to look in before its time
  Awaited left_;                     // its own thread has ended
  std::thread thread_;
};

}  // namespace holdfast::engine
