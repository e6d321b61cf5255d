#include "engine/loop.hpp"

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

Loop::Loop(std::function<void()> settle, std::function<TimePoint()> next_due)
    : settle_(std::move(settle)), next_due_(std::move(next_due)), work_(context_.get_executor()) {}

void Loop::start() {
  thread_ = std::thread([this] { run(); });
}

Loop::~Loop() {
  finish({});
  // What came too late.
  for (Task* task = inbox_.exchange(nullptr); task != nullptr;) {
    const std::shared_ptr<Task> last = std::move(task->keep_);
    task = task->next_;
  }
}

bool Loop::inside() const { return turned_here == this; }

bool Loop::callers_come_one_by_one() const {
  return Clock::now().time_since_epoch().count() < aside_until_.load(std::memory_order_relaxed);
}

/// One piece of work; waits for it. A wait that is likely to be short is spent looking, since to fall asleep and be
/// woken costs more than a round trip to a server nearby: as long as waits are shorter than kLongestSpin it looks that
/// long (the way in which KVM polls before it halts). Far servers and idle clients are waited for asleep.
std::size_t Loop::run_one(TimePoint until) {
  const TimePoint begun = Clock::now();
  base::Duration spin = spin_.load(std::memory_order_relaxed);
  if (spin > base::Duration{}) {
    for (TimePoint now = begun; now < begun + spin && now < until; now = Clock::now()) {
      if (context_.poll_one() > 0) return 1;
      if (context_.stopped()) return 0;
    }
  }
  const std::size_t ran = until == TimePoint::max() ? context_.run_one() : context_.run_one_for(until - Clock::now());
  const base::Duration waited = Clock::now() - begun;
  if (waited <= kLongestSpin && kSpareProcessors > 0) {
    spin = std::clamp(spin * 2, kShortestSpin, kLongestSpin);
  } else {
    spin = spin > kShortestSpin ? spin / 2 : base::Duration{};
  }
  spin_.store(spin, std::memory_order_relaxed);
  return ran;
}

void Loop::run() {
  while (!context_.stopped()) {
    {
      const std::scoped_lock turn(turn_);
      const Turning turning(this);
      settle_();  // what a lazy task left
      while (run_one(TimePoint::max()) > 0) {
        settle_();
        if (waiting_.load(std::memory_order_relaxed) == 0 && callers_come_one_by_one()) break;
      }
    }
    step_aside();
  }
  const std::scoped_lock guard(parked_mutex_);
  over_ = true;
  parked_.notify_all();
}

void Loop::step_aside() {
  std::unique_lock guard(parked_mutex_);
  base::Duration gap = kLookIn;
  unsigned calls = calls_.load(std::memory_order_relaxed);
  while (!wanted_ && !context_.stopped() && callers_come_one_by_one()) {
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
  wanted_ = nudged_ = false;
}

/// Unless a caller turns the loop.
void Loop::look_in() {
  if (!turn_.try_lock()) return;
  const std::scoped_lock turn(std::adopt_lock, turn_);
  const Turning turning(this);
  context_.poll();
  settle_();
}

void Loop::want_own_thread() {
  const std::scoped_lock guard(parked_mutex_);
  wanted_ = true;
  parked_.notify_all();
}

void Loop::call(std::shared_ptr<Task> task, Answer& answer, TimePoint until) {
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

void Loop::post(std::shared_ptr<Task> task) {
  Task* const newest = task.get();
  newest->keep_ = std::move(task);
  Task* older = inbox_.load(std::memory_order_relaxed);
  do {
    newest->next_ = older;
  } while (!inbox_.compare_exchange_weak(older, newest, std::memory_order_release, std::memory_order_relaxed));
  // Whoever finds it empty sees to it that it is emptied.
  if (older == nullptr) defer([this] { empty_inbox(); });
}

void Loop::post_from_caller(std::shared_ptr<Task> task, Pace pace) {
  if (turn_.try_lock()) {
    const std::scoped_lock turn(std::adopt_lock, turn_);
    const Turning turning(this);
    empty_inbox();
    task->run();
    if (pace == Pace::at_once) settle_();
  } else {
    post(std::move(task));
    return;
  }
  calls_.fetch_add(1, std::memory_order_relaxed);
  nudge();  // it looks in soon again
}

void Loop::nudge() {
  if (!looks_in_rarely_.load() || inside()) return;
  const std::scoped_lock guard(parked_mutex_);
  nudged_ = true;
  parked_.notify_all();
}

void Loop::empty_inbox() {
  Task* task = in_order(inbox_.exchange(nullptr, std::memory_order_acquire));
  while (task != nullptr) {
    const std::shared_ptr<Task> kept = std::move(task->keep_);
    task = task->next_;
    kept->run();
  }
}

Loop::Task* Loop::in_order(Task* newest) {
  Task* first = nullptr;
  while (newest != nullptr) {
    Task* const older = std::exchange(newest->next_, first);
    first = std::exchange(newest, older);
  }
  return first;
}

/// The caller has the turn.
void Loop::turn(Task& task, Answer& answer, TimePoint until) {
  {
    const std::scoped_lock turn(std::adopt_lock, turn_);
    const Turning turning(this);
    empty_inbox();  // what this caller posted before comes first
    task.run();
    settle_();
    while (!answer.is_there() && Clock::now() < until && !context_.stopped()) {
      if (run_one(until) > 0) settle_();
    }
  }
  if (waiting_.load() > 0 || !answer.is_there()) want_own_thread();
}

void Loop::wait(Answer& answer, TimePoint until) {
  if (waiting_.load(std::memory_order_relaxed) <= kFew) {
    const bool near = spin_.load(std::memory_order_relaxed) > base::Duration{};
    const TimePoint end = Clock::now() + (near ? kLongestSpin : base::Duration{});
    while (!answer.is_there() && Clock::now() < end) std::this_thread::yield();
  }
  std::unique_lock guard(answer.mutex_);
  const auto ready = [&answer] { return answer.is_there(); };
  while (!ready() && Clock::now() < until && !context_.stopped()) {
    const base::Duration left = until == TimePoint::max() ? kLongestSleep : until - Clock::now();
    answer.arrived_.wait_for(guard, std::min(left, kLongestSleep), ready);
  }
}

void Loop::set(Answer& answer) {
  waiting_.fetch_sub(1);
  {
    const std::scoped_lock guard(answer.mutex_);
    answer.there_.store(true, std::memory_order_release);
  }
  answer.arrived_.notify_one();  // without the mutex, which the caller wants next
  // The caller may be turning this loop, asleep in it.
  if (!inside()) boost::asio::post(context_, [] {});
}

void Loop::finish(base::Duration limit) {
  if (!thread_.joinable()) return;
  work_.reset();
  want_own_thread();
  {
    std::unique_lock guard(parked_mutex_);
    parked_.wait_for(guard, limit, [this] { return over_; });
  }
  context_.stop();
  want_own_thread();
  thread_.join();
}

}  // namespace holdfast::engine
