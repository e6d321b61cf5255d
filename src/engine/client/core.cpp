#include "engine/client/core.hpp"

#include <future>
#include <thread>

#include "engine/client/closing.hpp"
#include "engine/client/guests.hpp"
#include "engine/hold/hold_release.hpp"
#include "engine/loop/own_loop.hpp"

namespace holdfast::engine {

Core::Core(Config config, boost::asio::io_context* host)
    : runtime_(
          std::move(config), host,
          {.connected = [this](redis::Shard& shard) { on_connected(shard); },
           .disconnected = [this](redis::Shard& shard) { watchdog_.loss_watch().on_main(shard, false); },
           .side_connected = [this](redis::Shard& shard, redis::Side side) { on_side_connected(shard, side); },
           .side_disconnected = [this](redis::Shard& shard, redis::Side side) { on_side_disconnected(shard, side); },
           .invalidated = [this](redis::Shard& shard,
                                 const base::Reply& keys) { watchdog_.loss_watch().on_invalidated(shard, keys); },
           .moved = [this](const redis::cluster::SlotSet& slots) { on_moved(slots); },
           .look_at_deadlines = [this] { return watchdog_.look_at_deadlines(); }}),
      watchdog_(runtime_),
      targets_(new Targets(runtime_, watchdog_)),
      late_releases_(runtime_, targets_->recent_releases()) {}

Core::~Core() { runtime_.halt(); }

std::shared_ptr<Core> Core::make(Config config, boost::asio::io_context* host) {
  auto core = std::make_shared<Core>(std::move(config), host);
  core->start();
  return core;
}

void Core::start() {
  runtime_.start(weak_from_this());
  if (runtime_.host() != nullptr) boost::asio::use_service<Guests>(*runtime_.host()).add(weak_from_this());
}

void Core::on_connected(redis::Shard& shard) {
  watchdog_.loss_watch().on_main(shard, true);
  watchdog_.on_connected(shard);
  late_releases_.on_connected();
  // A message may have been missed while there was no connection.
  for (const std::shared_ptr<Target>& target : targets_->all(Targets::Which::all)) {
    if (target->stands_on(shard)) target->wake();
  }
}

/// Waiters for these slots are subscribed at another server, and may have missed a message.
void Core::on_moved(const redis::cluster::SlotSet& slots) {
  watchdog_.on_moved(slots);
  late_releases_.on_moved(slots);
  for (const std::shared_ptr<Target>& target : targets_->in(slots)) target->wake();
}

void Core::on_side_connected(redis::Shard& shard, redis::Side side) {
  if (side == redis::Side::acks) watchdog_.on_acks_connected(shard);
  if (side == redis::Side::watch) watchdog_.loss_watch().on_connected(shard);
}

void Core::on_side_disconnected(redis::Shard& shard, redis::Side side) {
  if (side == redis::Side::acks) watchdog_.confirmations().end_era(shard);
  if (side == redis::Side::watch) watchdog_.loss_watch().on_disconnected(shard);
}

void Core::end_holds() {
  for (const std::shared_ptr<Tenancy>& hold : watchdog_.armed()) end_at_close(*hold);
}

void Core::start_close(std::function<void()> done) {
  bool first = false;
  const auto closing = std::make_shared<Closing>(shared_from_this());  // before anything irreversible
  {
    const base::Guard guard(mutex_);
    if (!all_over_) {
      if (done) when_closed_.push_back(std::move(done));  // if that throws, `done` is intact and outlives the mutex
      done = {};
      first = runtime_.begin_close();
    }
  }
  if (first) closing->start();
  if (done) done();
}

void Core::on_closed() {
  std::vector<std::function<void()>> waiting;
  {
    const base::Guard guard(mutex_);
    all_over_ = true;
    waiting.swap(when_closed_);
  }
  for (const std::function<void()>& done : waiting) {
    try {
      done();
    } catch (...) {
      // Out of memory: the receiver is dropped.
    }
  }
}

void Core::drop_all() noexcept {
  runtime_.refuse_work();
  for (const std::shared_ptr<Target>& target : targets_->all(Targets::Which::own)) target->drop_waiters();
  runtime_.drop_all();
  watchdog_.drop_all();
  targets_->let_go();
  std::vector<std::function<void()>> dropped;
  const base::Guard guard(mutex_);
  dropped.swap(when_closed_);
}

/// False: no memory; nothing has begun.
bool Core::try_to_close() noexcept {
  try {
    if (runtime_.own_loop() == nullptr) {
      start_close({});
      return true;
    }
    const auto closed = std::make_shared<std::promise<void>>();
    start_close([closed] { closed->set_value(); });
    closed->get_future().wait_for(runtime_.config().release_timeout + Runtime::kRunOut);
    return true;
  } catch (...) {
    return false;
  }
}

/// If there is no memory all that time, holds and attempts end with their leases.
void Core::close() noexcept {
  constexpr milliseconds kTryAgain{1};
  const base::Guard guard(close_mutex_);
  const bool may_wait = runtime_.own_loop() != nullptr;
  const TimePoint end = base::Clock::now() + runtime_.config().release_timeout;
  while (!try_to_close() && may_wait && base::Clock::now() < end) std::this_thread::sleep_for(kTryAgain);
  if (may_wait) runtime_.stop_threads();
}

}  // namespace holdfast::engine
