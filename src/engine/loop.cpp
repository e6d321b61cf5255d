#include "engine/loop.hpp"

namespace holdfast::engine {

using base::Clock;
using base::TimePoint;

namespace {

/// The loop that this thread turns at the moment.
thread_local const Loop* turned_here = nullptr;

struct Turning {
  explicit Turning(const Loop* loop) { turned_here = loop; }
  ~Turning() { turned_here = nullptr; }
  Turning(const Turning&) = delete;
  Turning& operator=(const Turning&) = delete;
};

}  // namespace

Loop::Loop() : work_(context_.get_executor()), thread_([this] { run(); }) {}

Loop::~Loop() { finish({}); }

bool Loop::inside() const { return turned_here == this; }

bool Loop::callers_come_one_by_one() const {
  return Clock::now().time_since_epoch().count() < aside_until_.load(std::memory_order_relaxed);
}

void Loop::run() {
  while (!context_.stopped()) {
    {
      const std::scoped_lock turn(turn_);
      const Turning turning(this);
      while (context_.run_one() > 0) {
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
  while (!wanted_ && !context_.stopped() && callers_come_one_by_one()) {
    parked_.wait_for(guard, kLookIn);
    if (wanted_ || !turn_.try_lock()) continue;
    const std::scoped_lock turn(std::adopt_lock, turn_);
    guard.unlock();
    const Turning turning(this);
    context_.poll();
    guard.lock();
  }
  wanted_ = false;
}

void Loop::want_own_thread() {
  const std::scoped_lock guard(parked_mutex_);
  wanted_ = true;
  parked_.notify_all();
}

/// The caller has the turn.
void Loop::turn(Answer& answer, TimePoint until) {
  {
    const std::scoped_lock turn(std::adopt_lock, turn_);
    const Turning turning(this);
    while (!answer.is_there()) {
      if (until == TimePoint::max()) {
        if (context_.run_one() == 0) break;
      } else {
        const TimePoint now = Clock::now();
        if (now >= until || context_.stopped()) break;
        context_.run_one_for(until - now);
      }
    }
  }
  if (waiting_.load() > 0 || !answer.is_there()) want_own_thread();
}

void Loop::wait(Answer& answer, TimePoint until) {
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
    answer.arrived_.notify_one();
  }
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
