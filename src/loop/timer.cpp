// SPDX-License-Identifier: Apache-2.0
#include "loop/timer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>

#include "loop/timer_watch.hpp"

namespace holdfast::timing {
namespace {

/// Kept apart from the user's timers, so that the loop's queue for these timers never grows after ours were added: a
/// timer that leaves the queue can be added again without allocating.
struct OurTraits : boost::asio::wait_traits<base::Clock> {};

}  // namespace

/// On the caller's io_context the handler may outlive everything else.
struct Timer::Shared : std::enable_shared_from_this<Timer::Shared> {
  Shared(const boost::asio::any_io_executor& executor, std::function<void()> what)
      : timer(executor), on_time(std::move(what)) {}

  /// One handler at a time, since there is memory for one: a wait that is cut short is restarted when its handler runs.
  void wait_until(base::TimePoint time) noexcept {
    if (wanted && time >= *wanted && state == State::waiting) return;
    wanted = wanted ? std::min(time, *wanted) : time;
    if (state == State::waiting) timer.cancel();
    if (state == State::idle) try_to_begin();
  }
  void begin() {
    const base::TimePoint until = wanted.value_or(base::TimePoint::max());
    timer.expires_at(until);
    timer.async_wait(in_slot(slot, [self = shared_from_this()](boost::system::error_code) { self->on_wait(); }));
    state = State::waiting;
    tell_watch(until);
  }
  /// Fails at worst if the host has got another timer of ours since the latest wait; then setting the next time starts
  /// it.
  void try_to_begin() noexcept {
    try {
      begin();
    } catch (...) {
      state = State::idle;
    }
  }
  void on_wait() {
    const std::shared_ptr<void> kept = owner.lock();
    if (state == State::over || (has_owner && !kept)) return;
    state = State::ringing;
    struct GoOn {
      Shared& shared;
      ~GoOn() {
        if (shared.state == State::over) return;
        shared.state = State::idle;
        if (shared.wanted) shared.try_to_begin();
      }
    };
    const GoOn at_the_end{*this};
    if (!wanted || *wanted > base::Clock::now()) return;
    wanted = base::TimePoint::max();
    on_time();
  }

  enum class State { made, idle, waiting, ringing, over };

  HandlerSlot slot;
  boost::asio::basic_waitable_timer<base::Clock, OurTraits> timer;
  const std::function<void()> on_time;
  std::weak_ptr<void> owner;
  bool has_owner = false;
  State state = State::made;
  std::optional<base::TimePoint> wanted = base::TimePoint::max();  // none: it rests
};

Timer::Timer(const boost::asio::any_io_executor& executor, std::function<void()> on_time)
    : shared_(std::make_shared<Shared>(executor, std::move(on_time))) {}

/// A handler running on another thread at this moment finds no owner and touches nothing.
Timer::~Timer() {
  if (!shared_->has_owner) shared_->state = Shared::State::over;
  shared_->timer.cancel();
}

void Timer::start(std::weak_ptr<void> owner) {
  shared_->has_owner = !owner.expired();
  shared_->owner = std::move(owner);
  shared_->begin();
}

void Timer::wait_until(base::TimePoint time) noexcept { shared_->wait_until(time); }

void Timer::rest() noexcept {
  shared_->wanted.reset();
  shared_->timer.cancel();
}

}  // namespace holdfast::timing
