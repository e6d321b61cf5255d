// SPDX-License-Identifier: Apache-2.0
#include "loop/own_loop.hpp"

#include <algorithm>
#include <cstdint>
#include <poll.h>
#include <thread>

#include "base/no_signals.hpp"

namespace holdfast::engine {

using base::Clock;
using base::Duration;
using base::TimePoint;

namespace {

/// How many callers may look for their answers instead of sleeping.
const int kFew = std::min(spare_processors(), 3);

/// The loop that this thread drives at the moment. Its address tells threads apart.
thread_local const Loop* driven_here = nullptr;

/// The wheel in the hands of this thread, if it could be had. On a thread of the user's no signal handler may run
/// meanwhile, so that it cannot hold up others.
class Wheel {
 public:
  Wheel(std::unique_lock<std::mutex> wheel, const Loop* loop) : lock_(std::move(wheel)) {
    if (lock_) driven_here = loop;
  }
  ~Wheel() {
    if (lock_) driven_here = nullptr;
  }
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;
  explicit operator bool() const { return lock_.owns_lock(); }

 private:
  const std::unique_lock<std::mutex> lock_;
};

}  // namespace

static_assert(sizeof(Awaited) == sizeof(std::uint32_t));

/// By hand, since std::atomic::wait has no limit.
void Awaited::sleep(Duration limit) noexcept {
  if (limit.count() <= 0) return;
  std::uint32_t seen = kOpen;
  if (word_.compare_exchange_strong(seen, kSleptFor) || seen == kSleptFor) system::sleep_on(word_, kSleptFor, limit);
}

// ---- the seat ----

bool DriverSeat::wait(const Sockets& sockets, TimePoint until, const sigset_t& signals) {
  pollfd looked_at[] = {{woken_.descriptor(), POLLIN, 0}, {sockets[0], POLLIN, 0}, {sockets[1], POLLIN, 0}};
  const nfds_t count = sockets[1] >= 0 ? 3 : 2;
  const TimePoint begun = Clock::now();
  const TimePoint spin_until = std::min(begun + spin(), until);
  int ready = 0;
  do {
    ready = ::poll(looked_at, count, 0);
  } while (ready == 0 && Clock::now() < spin_until);
  if (ready == 0) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now());
    if (left.count() > 0) ready = system::poll({looked_at, count}, left, signals);
  }
  waited(Clock::now() - begun);
  if (ready > 0 && looked_at[0].revents != 0) woken_.hush();
  return ready != 0 || Clock::now() < until;
}

TimePoint DriverSeat::pause(TimePoint now) noexcept {
  if (now < yields_from_) return Clock::now();
  std::this_thread::yield();
  const TimePoint after = Clock::now();
  if (after - now > kCrowded) yields_from_ = after + kNoYields;
  return after;
}

void DriverSeat::waited(Duration time) {
  Duration spin = spin_.load(std::memory_order_relaxed);
  if (time <= kLongestSpin && spare_processors() > 0) {
    spin = std::clamp(spin * 2, kShortestSpin, kLongestSpin);
  } else {
    spin = spin > kShortestSpin ? spin / 2 : Duration{};
  }
  spin_.store(spin, std::memory_order_relaxed);
}

// ---- the loop ----

OwnLoop::OwnLoop(Hooks hooks)
    : Loop(own_context, DefersBy::asio, hooks.settle), hooks_(std::move(hooks)), work_(own_context.get_executor()) {}

void OwnLoop::start() {
  schedule_.start({});
  const base::NoSignals inherited;
  thread_ = std::thread([this] { run(); });
}

OwnLoop::~OwnLoop() { finish({}); }

bool OwnLoop::inside() const { return driven_here == this; }

bool OwnLoop::callers_come_one_by_one() const {
  const Clock::rep now = Clock::now().time_since_epoch().count();
  return now < aside_until_.load(std::memory_order_relaxed) && now >= together_until_.load(std::memory_order_relaxed);
}

// ---- work, for whoever has the wheel ----

/// Runs one handler, if one is ready. A handler that throws ends nothing but itself.
bool OwnLoop::run_ready() noexcept {
  try {
    return own_context.poll_one() > 0;
  } catch (...) {
    troubled_ = true;
    return true;
  }
}

/// Finishes the work so far: what it has to send is sent before anybody is woken.
void OwnLoop::settle_work() noexcept {
  send_out();
  wake_answered();
}

void OwnLoop::send_out() noexcept {
  try {
    if (troubled_) hooks_.recover();
    troubled_ = false;
    settle();
  } catch (...) {
    troubled_ = true;  // once more, soon
  }
}

/// While they are being woken one by one, the server works on what the first of them have sent.
void OwnLoop::wake_answered() noexcept {
  for (std::size_t woken = 0; woken < answered_count_;) {
    Awaited::wake(answered_[woken++]);
    waiting_.fetch_sub(1);
    if (woken % kAtOnce != 0 || inbox_empty()) continue;
    empty_inbox();
    send_out();  // which may add more
  }
  answered_count_ = 0;
}

/// Does one piece of work and waits for it, however long that takes: only for the loop's own thread.
void OwnLoop::run_one() {
  const TimePoint begun = Clock::now();
  const TimePoint spin_until = begun + seat_.spin();
  for (TimePoint now = begun; now < spin_until; now = seat_.pause(now)) {
    if (run_ready() || own_context.stopped()) return;
  }
  try {
    troubled_ ? own_context.run_one_for(kTryAgain) : own_context.run_one();
  } catch (...) {
    troubled_ = true;
  }
  seat_.waited(Clock::now() - begun);
}

// ---- the loop's own thread ----

void OwnLoop::run() {
  while (!own_context.stopped()) {
    {
      const Wheel wheel{std::unique_lock(wheel_), this};
      settle_work();  // what a lazy task left
      while (!own_context.stopped()) {
        run_one();
        settle_work();
        if (waiting_.load(std::memory_order_relaxed) == 0 && attending_.load() == 0 && callers_come_one_by_one()) break;
      }
    }
    step_aside();
  }
  if (left_.set()) Awaited::wake(&left_);
}

/// While it is aside: to look in before its time.
void OwnLoop::call_thread() noexcept {
  if (called_.set()) Awaited::wake(&called_);
}

/// To drive again.
void OwnLoop::want_thread() noexcept {
  wanted_.store(true);  // before the call: whoever has been called reads it after that
  call_thread();
}

void OwnLoop::step_aside() {
  aside_.store(true);  // before the look at attending_: see attend()
  Duration gap = kLookIn;
  unsigned calls = calls_.load(std::memory_order_relaxed);
  int idle_looks = 0;  // that found callers waiting, and none that had come since
  while (!own_context.stopped() && attending_.load() == 0 && callers_come_one_by_one()) {
    const Duration due = schedule_.next() - Clock::now();
    called_.sleep(std::clamp(due, kLookIn, gap));
    called_.clear();
    if (wanted_.load()) break;
    const unsigned calls_now = calls_.load(std::memory_order_relaxed);
    const bool none_came = std::exchange(calls, calls_now) == calls_now;
    gap = none_came ? std::min(gap * 2, kRarestLookIn) : kLookIn;
    // Whoever drives may be held up, by a signal handler of its own or by a processor that it does not get.
    idle_looks = none_came && waiting_.load() > 0 ? idle_looks + 1 : 0;
    if (idle_looks > kPatientLooks) break;
    // Before the look: what is posted after it finds this set, and nudges.
    looks_in_rarely_.store(gap > kLookIn);
    look_in();
  }
  looks_in_rarely_.store(false);
  aside_.store(false);
  wanted_.store(false);
  called_.clear();
}

void OwnLoop::attend() {
  attending_.fetch_add(1);
  if (aside_.load()) want_thread();
}

void OwnLoop::attended() { attending_.fetch_sub(1); }

/// Unless a caller has the wheel.
void OwnLoop::look_in() {
  const Wheel wheel({wheel_, std::try_to_lock}, this);
  if (!wheel) return;
  while (run_ready()) settle_work();
  settle_work();
}

void OwnLoop::nudge() {
  if (inside()) return;
  if (seat_.taken()) seat_.wake();
  if (looks_in_rarely_.load()) call_thread();
}

// ---- callers ----

void OwnLoop::call(std::shared_ptr<Task> task, Answer& answer, TimePoint until) {
  calls_.fetch_add(1, std::memory_order_relaxed);
  const bool alone = waiting_.fetch_add(1) == 0;
  (alone ? aside_until_ : together_until_)
      .store((Clock::now() + (alone ? kAside : kTogether)).time_since_epoch().count(), std::memory_order_relaxed);
  std::optional<base::NoSignals> no_signals(std::in_place);  // except while it waits
  const bool drives = seat_.take();
  const std::optional<Sockets> sockets = run_here(*task);
  const bool posted = !sockets;
  if (posted) {
    post(std::move(task));
  } else if (drives) {
    drive(answer, *sockets, until, no_signals->before());
  }
  if (drives) seat_.leave();
  if (ended_.load()) run_left();
  // Whoever drives now sees to this caller, and the last one to drive sees to those that are left.
  const bool driven = (!drives && seat_.taken()) || (posted && !aside_.load());
  if (!driven && (waiting_.load() > 0 || !answer.is_there())) want_thread();
  no_signals.reset();
  if (!answer.is_there()) wait(answer, until);
  if (looks_in_rarely_.load()) nudge();  // it looks in soon again
}

/// Returns the sockets to wait for; nothing if somebody else has the wheel.
std::optional<OwnLoop::Sockets> OwnLoop::run_here(Task& task) {
  const Wheel wheel({wheel_, std::try_to_lock}, this);
  if (!wheel) return std::nullopt;
  empty_inbox();  // what this caller posted before comes first
  Loop::run(task);
  empty_inbox();  // what those send who were just called goes with it
  settle_work();
  return hooks_.sockets();
}

/// For a round trip at most. The wheel is taken only while there is something to be done.
void OwnLoop::drive(Answer& answer, Sockets sockets, TimePoint until, const sigset_t& signals) {
  answer.driver_.store(static_cast<const void*>(&driven_here));
  const TimePoint end = std::min(until, Clock::now() + kLongestDrive);
  while (!answer.is_there() && !answer.late_.load(std::memory_order_relaxed) && sockets.front() >= 0 &&
         seat_.wait(sockets, end, signals)) {
    if (answer.is_there()) break;
    const Wheel wheel({wheel_, std::try_to_lock}, this);
    if (!wheel) break;  // its own thread has come
    while (!answer.is_there() && run_ready()) settle_work();
    if (troubled_ || own_context.stopped()) break;
    sockets = hooks_.sockets();
  }
  answer.driver_.store(nullptr);
}

void OwnLoop::wait(Answer& answer, TimePoint until) {
  if (waiting_.load(std::memory_order_relaxed) <= kFew) {
    const bool near = seat_.spin() > Duration{};
    const TimePoint end = Clock::now() + (near ? DriverSeat::kLongestSpin : Duration{});
    while (!answer.is_there() && Clock::now() < end) std::this_thread::yield();
  }
  while (!answer.is_there() && Clock::now() < until && !own_context.stopped()) {
    const Duration left = until == TimePoint::max() ? kLongestSleep : until - Clock::now();
    answer.there_.sleep(std::min(left, kLongestSleep));
  }
}

void OwnLoop::set(Answer& answer) noexcept {
  const bool sleeps = answer.there_.set();
  const void* const driver = answer.driver_.load();
  if (driver != nullptr && driver != static_cast<const void*>(&driven_here)) seat_.wake();
  if (sleeps && inside() && answered_count_ < kMostAnswered) {
    answered_[answered_count_++] = &answer.there_;
    return;
  }
  waiting_.fetch_sub(1);
  if (sleeps) Awaited::wake(&answer.there_);
}

void OwnLoop::post_from_caller(std::shared_ptr<Task> task, Pace pace) {
  bool ran = false;
  {
    const base::NoSignals no_signals;
    if (const Wheel wheel({wheel_, std::try_to_lock}, this); wheel) {
      empty_inbox();
      Loop::run(*task);
      if (pace == Pace::at_once) send_out();
      wake_answered();
      ran = true;
    }
  }
  if (ran) {
    calls_.fetch_add(1, std::memory_order_relaxed);
    nudge();  // it looks in soon again
  } else {
    post(std::move(task));
  }
  if (ended_.load()) run_left();
}

// ---- the end ----

void OwnLoop::finish(Duration limit) {
  if (!thread_.joinable()) return;
  work_.reset();
  post(std::shared_ptr<Task>(std::shared_ptr<void>(), &run_out_));
  want_thread();
  using Steady = std::chrono::steady_clock;  // the loop's clock may stand still
  const Steady::time_point until = Steady::now() + limit;
  while (!left_.is_set() && Steady::now() < until) left_.sleep(until - Steady::now());
  own_context.stop();
  want_thread();
  thread_.join();
  ended_.store(true);
  // What came too late is told so.
  run_left();
}

/// Each caller of a loop that has ended does this last: a handler that is ready, such as a wait that was cut short,
/// keeps the client alive until it has run, and the client keeps the loop alive. A caller that does not get the wheel
/// has posted already, and whoever has the wheel looks once more after that.
void OwnLoop::run_left() noexcept {
  do {
    const Wheel wheel({wheel_, std::try_to_lock}, this);
    if (!wheel) return;
    empty_inbox();
    own_context.restart();
    for (int i = 0; i < kMostLeft && run_ready(); ++i) {
    }
    own_context.stop();
    wake_answered();
  } while (!inbox_empty());
}

}  // namespace holdfast::engine
