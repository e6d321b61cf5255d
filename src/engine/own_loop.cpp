#include "engine/own_loop.hpp"

#include <algorithm>

namespace holdfast::engine {

using base::Clock;
using base::TimePoint;

namespace {

/// Besides the one that a thread is on: what it may look around on without keeping the server or others from working.
const int kSpareProcessors = static_cast<int>(std::thread::hardware_concurrency()) - 1;
/// As many callers as may look for their answers instead of sleeping.
const int kFew = std::min(kSpareProcessors, 3);

/// The loop that this thread turns at the moment.
thread_local const Loop* turned_here = nullptr;

struct Turning {
  explicit Turning(const Loop* loop) { turned_here = loop; }
  ~Turning() { turned_here = nullptr; }
  Turning(const Turning&) = delete;
  Turning& operator=(const Turning&) = delete;
};

}  // namespace

OwnLoop::OwnLoop(std::function<void()> settle, std::function<TimePoint()> next_due)
    : Loop(own_context, std::nullopt, std::move(settle)),
      next_due_(std::move(next_due)),
      work_(own_context.get_executor()) {}

void OwnLoop::start() {
  thread_ = std::thread([this] { run(); });
}

OwnLoop::~OwnLoop() { finish({}); }

bool OwnLoop::inside() const { return turned_here == this; }

bool OwnLoop::callers_come_one_by_one() const {
  return Clock::now().time_since_epoch().count() < aside_until_.load(std::memory_order_relaxed);
}

/// One piece of work; waits for it. A wait that is likely to be short is spent looking, since to fall asleep and be
/// woken costs more than a round trip to a server nearby: as long as waits are shorter than kLongestSpin it looks that
/// long (the way in which KVM polls before it halts). Far servers and idle clients are waited for asleep.
std::size_t OwnLoop::run_one(TimePoint until) {
  const TimePoint begun = Clock::now();
  base::Duration spin = spin_.load(std::memory_order_relaxed);
  if (spin > base::Duration{}) {
    for (TimePoint now = begun; now < begun + spin && now < until; now = Clock::now()) {
      if (own_context.poll_one() > 0) return 1;
      if (own_context.stopped()) return 0;
    }
  }
  const std::size_t ran =
      until == TimePoint::max() ? own_context.run_one() : own_context.run_one_for(until - Clock::now());
  const base::Duration waited = Clock::now() - begun;
  if (waited <= kLongestSpin && kSpareProcessors > 0) {
    spin = std::clamp(spin * 2, kShortestSpin, kLongestSpin);
  } else {
    spin = spin > kShortestSpin ? spin / 2 : base::Duration{};
  }
  spin_.store(spin, std::memory_order_relaxed);
  return ran;
}

void OwnLoop::run() {
  while (!own_context.stopped()) {
    {
      const std::scoped_lock turn(turn_);
      const Turning turning(this);
      settle();  // what a lazy task left
      while (run_one(TimePoint::max()) > 0) {
        settle();
        if (waiting_.load(std::memory_order_relaxed) == 0 && attending_.load() == 0 && callers_come_one_by_one()) break;
      }
    }
    step_aside();
  }
  const std::scoped_lock guard(parked_mutex_);
  over_ = true;
  parked_.notify_all();
}

void OwnLoop::step_aside() {
  std::unique_lock guard(parked_mutex_);
  aside_.store(true);  // before the look at attending_: see attend()
  base::Duration gap = kLookIn;
  unsigned calls = calls_.load(std::memory_order_relaxed);
  while (!wanted_ && !own_context.stopped() && attending_.load() == 0 && callers_come_one_by_one()) {
    const base::Duration due = next_due_() - Clock::now();
    parked_.wait_for(guard, std::clamp(due, kLookIn, gap), [this] { return wanted_ || nudged_; });
    nudged_ = false;
    if (wanted_) break;
    const unsigned calls_now = calls_.load(std::memory_order_relaxed);
    gap = std::exchange(calls, calls_now) == calls_now ? std::min(gap * 2, kRarestLookIn) : kLookIn;
    // Before the look: what is posted after it finds this set, and nudges.
    looks_in_rarely_.store(gap > kLookIn);
    guard.unlock();
    look_in();
    guard.lock();
  }
  looks_in_rarely_.store(false);
  aside_.store(false);
  wanted_ = nudged_ = false;
}

void OwnLoop::attend() {
  attending_.fetch_add(1);
  if (aside_.load()) want_own_thread();
}

void OwnLoop::attended() { attending_.fetch_sub(1); }

/// Unless a caller turns the loop.
void OwnLoop::look_in() {
  if (!turn_.try_lock()) return;
  const std::scoped_lock turn(std::adopt_lock, turn_);
  const Turning turning(this);
  own_context.poll();
  settle();
}

void OwnLoop::want_own_thread() {
  const std::scoped_lock guard(parked_mutex_);
  wanted_ = true;
  parked_.notify_all();
}

void OwnLoop::call(std::shared_ptr<Task> task, Answer& answer, TimePoint until) {
  calls_.fetch_add(1, std::memory_order_relaxed);
  if (waiting_.fetch_add(1) == 0) {
    aside_until_.store((Clock::now() + kAside).time_since_epoch().count(), std::memory_order_relaxed);
  }
  if (turn_.try_lock()) {
    turn(*task, answer, until);
  } else {
    post(std::move(task));
    wait(answer, until);
  }
}

void OwnLoop::post_from_caller(std::shared_ptr<Task> task, Pace pace) {
  if (turn_.try_lock()) {
    const std::scoped_lock turn(std::adopt_lock, turn_);
    const Turning turning(this);
    empty_inbox();
    task->run();
    if (pace == Pace::at_once) settle();
  } else {
    post(std::move(task));
    return;
  }
  calls_.fetch_add(1, std::memory_order_relaxed);
  nudge();  // it looks in soon again
}

void OwnLoop::nudge() {
  if (!looks_in_rarely_.load() || inside()) return;
  const std::scoped_lock guard(parked_mutex_);
  nudged_ = true;
  parked_.notify_all();
}

/// The caller has the turn.
void OwnLoop::turn(Task& task, Answer& answer, TimePoint until) {
  {
    const std::scoped_lock turn(std::adopt_lock, turn_);
    const Turning turning(this);
    empty_inbox();  // what this caller posted before comes first
    task.run();
    settle();
    while (!answer.is_there() && Clock::now() < until && !own_context.stopped()) {
      if (run_one(until) > 0) settle();
    }
  }
  if (waiting_.load() > 0 || !answer.is_there()) want_own_thread();
}

void OwnLoop::wait(Answer& answer, TimePoint until) {
  if (waiting_.load(std::memory_order_relaxed) <= kFew) {
    const bool near = spin_.load(std::memory_order_relaxed) > base::Duration{};
    const TimePoint end = Clock::now() + (near ? kLongestSpin : base::Duration{});
    while (!answer.is_there() && Clock::now() < end) std::this_thread::yield();
  }
  std::unique_lock guard(answer.mutex_);
  const auto ready = [&answer] { return answer.is_there(); };
  while (!ready() && Clock::now() < until && !own_context.stopped()) {
    const base::Duration left = until == TimePoint::max() ? kLongestSleep : until - Clock::now();
    answer.arrived_.wait_for(guard, std::min(left, kLongestSleep), ready);
  }
}

void OwnLoop::set(Answer& answer) {
  waiting_.fetch_sub(1);
  {
    const std::scoped_lock guard(answer.mutex_);
    answer.there_.store(true, std::memory_order_release);
  }
  answer.arrived_.notify_one();  // without the mutex, which the caller wants next
  // The caller may be turning this loop, asleep in it.
  if (!inside()) boost::asio::post(own_context, [] {});
}

void OwnLoop::finish(base::Duration limit) {
  if (!thread_.joinable()) return;
  work_.reset();
  want_own_thread();
  {
    std::unique_lock guard(parked_mutex_);
    parked_.wait_for(guard, limit, [this] { return over_; });
  }
  own_context.stop();
  want_own_thread();
  thread_.join();
  // What came too late learns it.
  const std::scoped_lock turn(turn_);
  const Turning turning(this);
  empty_inbox();
}

}  // namespace holdfast::engine
