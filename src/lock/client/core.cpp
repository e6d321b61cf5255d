// SPDX-License-Identifier: Apache-2.0
#include "lock/client/core.hpp"

#include <vector>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include "base/guarded.hpp"

namespace holdfast::engine {

Core::Core(Config config, boost::asio::io_context* host)
    : runtime_(std::move(config), host, *this, [this] { return watchdog_.look_at_deadlines(); }),
      watchdog_(runtime_),
      targets_(new Targets(runtime_, watchdog_)),
      late_releases_(runtime_, targets_->recent_releases()) {}

Core::~Core() { runtime_.halt(); }

std::shared_ptr<Core> Core::make(Config config, boost::asio::io_context* host) {
  auto core = std::make_shared<Core>(std::move(config), host);
  core->runtime_.start(core);
  return core;
}

void Core::disconnected(redis::Shard& shard, const std::string&) { watchdog_.loss_watch().on_main(shard, false); }

void Core::side_connected(redis::Shard& shard, redis::Side side) {
  if (side == redis::Side::acks) watchdog_.on_acks_connected(shard);
  if (side != redis::Side::watch) return;
  if (watcher_) return watcher_->side_connected(shard, side);
  watchdog_.loss_watch().on_connected(shard);
}

void Core::side_disconnected(redis::Shard& shard, redis::Side side) {
  if (side == redis::Side::acks) watchdog_.confirmations().end_era(shard);
  if (side != redis::Side::watch) return;
  if (watcher_) return watcher_->side_disconnected(shard, side);
  watchdog_.loss_watch().on_disconnected(shard);
}

void Core::invalidated(redis::Shard& shard, const base::Reply& keys) {
  if (watcher_) return watcher_->invalidated(shard, keys);
  watchdog_.loss_watch().on_invalidated(shard, keys);
}

void Core::connected(redis::Shard& shard) {
  if (watcher_) watcher_->connected(shard);
  watchdog_.loss_watch().on_main(shard, true);
  watchdog_.on_connected(shard);
  late_releases_.on_connected();
  // A message may have been missed while there was no connection.
  for (const std::shared_ptr<Target>& target : targets_->all(Targets::Which::all)) {
    if (target->stands_on(shard)) target->wake();
  }
}

/// Waiters for these slots are subscribed at another server, and may have missed a message.
void Core::moved(const redis::cluster::SlotSet& slots) {
  watchdog_.on_moved(slots);
  late_releases_.on_moved(slots);
  for (const std::shared_ptr<Target>& target : targets_->in(slots)) target->wake();
}

bool Core::begin_close(std::function<void()>& done) {
  const base::Guard guard(mutex_);
  if (!when_closed_) return false;
  if (done) when_closed_->push_back(std::move(done));  // if that throws, `done` is intact and outlives the mutex
  done = {};
  return runtime_.begin_close();
}

void Core::end() {
  runtime_.stop_taking();
  targets_->let_go();
  watchdog_.stop();
  late_releases_.stop();
  runtime_.stop_work();
  std::optional<std::vector<std::function<void()>>> waiting;
  {
    const base::Guard guard(mutex_);
    waiting.swap(when_closed_);
  }
  if (!waiting) return;
  for (const std::function<void()>& done : *waiting) {
    try {
      done();
    } catch (...) {
      // Out of memory: the receiver is dropped.
    }
  }
}

void Core::stop_threads() {
  const base::Guard guard(stop_mutex_);
  runtime_.stop_threads();
}

void Core::drop_all() noexcept {
  runtime_.refuse_work();
  for (const std::shared_ptr<Target>& target : targets_->all(Targets::Which::own)) target->drop_waiters();
  runtime_.drop_all();
  watchdog_.drop_all();
  targets_->let_go();
  std::vector<std::function<void()>> dropped;
  const base::Guard guard(mutex_);
  if (when_closed_) dropped.swap(*when_closed_);
}

namespace {

/// All clients on one io_context: a service of it.
class Guests final : public boost::asio::execution_context::service {
 public:
  static boost::asio::execution_context::id id;
  explicit Guests(boost::asio::execution_context& context) : service(context) {}
  /// Thread-safe.
  void add(std::weak_ptr<Core> guest) {
    const base::Guard guard(mutex_);
    std::erase_if(guests_, [](const auto& each) { return each.expired(); });
    guests_.push_back(std::move(guest));
  }

 private:
  void shutdown() noexcept override {
    std::vector<std::weak_ptr<Core>> guests;
    {
      const base::Guard guard(mutex_);
      guests.swap(guests_);
    }
    for (const std::weak_ptr<Core>& each : guests) {
      if (const std::shared_ptr<Core> guest = each.lock()) guest->drop_all();
    }
  }

  base::Mutex mutex_;
  std::vector<std::weak_ptr<Core>> guests_ HOLDFAST_GUARDED_BY(mutex_);
};

boost::asio::execution_context::id Guests::id;

}  // namespace

std::shared_ptr<Core> make_guest(Config config, boost::asio::io_context& host) {
  auto core = Core::make(std::move(config), &host);
  boost::asio::use_service<Guests>(host).add(core);
  return core;
}

}  // namespace holdfast::engine
