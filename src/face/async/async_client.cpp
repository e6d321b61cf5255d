// SPDX-License-Identifier: Apache-2.0
// Clients on the caller's io_context, queries without blocking, and closing a client.
#include <algorithm>
#include <condition_variable>
#include <list>
#include <thread>

#include <holdfast/async.hpp>
#include <holdfast/detail/operation.hpp>
#include <holdfast/detail/stay.hpp>
#include <holdfast/error.hpp>

#include "base/guarded.hpp"
#include "face/counting.hpp"
#include "face/listing.hpp"
#include "face/parts.hpp"
#include "face/queries.hpp"
#include "lock/client/closing.hpp"
#include "lock/client/core.hpp"
#include "lock/queue/tenancy.hpp"

// By their full names: they are in a namespace that names Boost's version.

holdfast::Client holdfast::client_on(boost::asio::io_context& context, Config config) {
  return detail::ClientAccess::make(engine::make_guest(std::move(config), context));
}

holdfast::Client holdfast::client_on(boost::asio::io_context& context, std::string_view url) {
  return client_on(context, Config::from_url(url));
}

boost::asio::io_context* holdfast::detail::home(const std::shared_ptr<engine::Core>& core) {
  return core ? core->runtime().host() : nullptr;
}

boost::asio::io_context* holdfast::detail::home(const PartsPtr& parts) {
  return parts ? parts->runtime->host() : nullptr;
}

boost::asio::io_context* holdfast::detail::home(const std::shared_ptr<engine::Claim>& held) {
  return held ? held->runtime()->host() : nullptr;
}

namespace holdfast::detail {

// Drops the operations of a handler's context when the context is destroyed.
namespace {

class StayOnContext;

/// The stays on one context. The last of them may outlive it.
struct Residents {
  base::Mutex mutex;
  std::condition_variable one_left;
  bool over HOLDFAST_GUARDED_BY(mutex) = false;
  std::list<StayOnContext*> all HOLDFAST_GUARDED_BY(mutex);
};

class StayOnContext final : public Stay {
 public:
  explicit StayOnContext(std::shared_ptr<Residents> residents) : residents_(std::move(residents)) {}
  ~StayOnContext() override {
    const base::Guard guard(residents_->mutex);
    if (!begun_) return;
    residents_->all.erase(place_);
    if (residents_->over) residents_->one_left.notify_all();
  }

  bool begin(const OperationPtr& operation) override {
    const base::Guard guard(residents_->mutex);
    if (residents_->over) return false;
    place_ = residents_->all.insert(residents_->all.end(), this);
    begun_ = true;
    operation_ = operation;
    return true;
  }
  bool end() noexcept override {
    const base::Guard guard(residents_->mutex);
    ended_by_ = std::this_thread::get_id();
    return !residents_->over;
  }

 private:
  friend class Stays;

  const std::shared_ptr<Residents> residents_;
  // Guarded by the residents' mutex.
  bool begun_ = false;
  std::list<StayOnContext*>::iterator place_;
  std::weak_ptr<Operation> operation_;
  bool abandoned_ = false;
  std::thread::id ended_by_;
};

/// A service of the context.
class Stays final : public boost::asio::execution_context::service {
 public:
  static boost::asio::execution_context::id id;
  explicit Stays(boost::asio::execution_context& context) : service(context) {}
  StayPtr make() { return std::make_unique<StayOnContext>(residents_); }

 private:
  /// Handlers are destroyed here, except those in use by another thread, and those further down this thread's stack,
  /// whose destructors have destroyed the context.
  void shutdown() noexcept override {
    Residents& residents = *residents_;
    base::WaitingGuard guard(residents.mutex);
    residents.over = true;
    while (OperationPtr operation = next(residents)) {
      guard.unlock();
      operation->abandon();
      operation.reset();  // without the mutex: what it owns may have a stay here as well
      guard.lock();
    }
    guard.wait(residents.one_left, [&residents]() HOLDFAST_NOT_GUARDED {
      return std::ranges::all_of(residents.all, [](const StayOnContext* stay) HOLDFAST_NOT_GUARDED {
        return stay->ended_by_ == std::this_thread::get_id();
      });
    });
  }
  static OperationPtr next(Residents& residents) HOLDFAST_REQUIRES(residents.mutex) {
    for (StayOnContext* const stay : residents.all) {
      if (std::exchange(stay->abandoned_, true)) continue;
      if (OperationPtr operation = stay->operation_.lock()) return operation;
    }
    return nullptr;
  }

  const std::shared_ptr<Residents> residents_ = std::make_shared<Residents>();
};

boost::asio::execution_context::id Stays::id;

}  // namespace

StayPtr stay_on(boost::asio::execution_context& context) { return boost::asio::use_service<Stays>(context).make(); }

namespace {

class AsyncClose final : public Operation, public std::enable_shared_from_this<AsyncClose> {
 public:
  AsyncClose(std::shared_ptr<Core> core, ReceiverPtr<> receiver)
      : core_(std::move(core)), receiving_(std::move(receiver)) {}
  void start() override {
    start_close(core_, [self = shared_from_this()] { self->receiving_.tell(); });
  }
  void cancel() noexcept override { receiving_.tell(); }
  void abandon() noexcept override { receiving_.drop(); }

 private:
  const std::shared_ptr<Core> core_;
  face::Receiving<> receiving_;
};

template <class Result>
OperationPtr make_count(const PartsPtr& parts, Counting what, std::int64_t number,
                        ReceiverPtr<Failure, Result> receiver) {
  return face::make_or_tell(std::move(receiver), [&](ReceiverPtr<Failure, Result>& whom) {
    if (what == Counting::release && face::pass_on(*parts, number)) {
      return face::make_told<Failure, Result>(std::move(whom), {}, true);
    }
    face::Question<Result> question = face::counting<Result>(face::key_target(*parts), what, number);  // may throw
    return face::make_ask(parts->runtime, std::move(question), std::move(whom));
  });
}

}  // namespace

OperationPtr make_is_locked(const PartsPtr& parts, ReceiverPtr<Failure, bool> receiver) {
  return face::make_ask(parts->runtime, face::is_locked(face::key_target(*parts)), std::move(receiver));
}

OperationPtr make_ask_release(const PartsPtr& parts, ReceiverPtr<Failure, std::size_t> receiver) {
  return face::make_ask(parts->runtime, face::ask_release(face::key_target(*parts)), std::move(receiver));
}

OperationPtr make_is_held_by(const PartsPtr& parts, const std::string& owner, ReceiverPtr<Failure, bool> receiver) {
  return face::make_ask(parts->runtime, face::is_held_by(face::key_target(*parts), wire::Owner{owner, parts->ask}),
                        std::move(receiver));
}

OperationPtr make_remaining(const PartsPtr& parts,
                            ReceiverPtr<Failure, std::optional<std::chrono::milliseconds>> receiver) {
  return face::make_ask(parts->runtime, face::remaining(face::key_target(*parts)), std::move(receiver));
}

OperationPtr make_info(const PartsPtr& parts, InfoDetail detail, ReceiverPtr<Failure, LockInfo> receiver) {
  const engine::KeyTarget& target = face::key_target(*parts);
  return face::make_ask_in_steps(parts->runtime, face::Looking(target, detail), target.name(), std::move(receiver));
}

OperationPtr make_force_release(const PartsPtr& parts, ReceiverPtr<Failure, bool> receiver) {
  return face::make_ask(parts->runtime, face::force_release(face::key_target(*parts)), std::move(receiver));
}

OperationPtr make_force_release(const PartsPtr& parts, const std::string& owner, ReceiverPtr<Failure, bool> receiver) {
  return face::make_ask(parts->runtime, face::force_release(face::key_target(*parts), wire::Owner{owner}),
                        std::move(receiver));
}

OperationPtr make_counting(const PartsPtr& parts, Counting what, std::int64_t number,
                           ReceiverPtr<Failure, std::int64_t> receiver) {
  return make_count(parts, what, number, std::move(receiver));
}

OperationPtr make_counting(const PartsPtr& parts, Counting what, std::int64_t number,
                           ReceiverPtr<Failure, bool> receiver) {
  return make_count(parts, what, number, std::move(receiver));
}

OperationPtr make_ping(const std::shared_ptr<Core>& core, ReceiverPtr<Failure> receiver) {
  return face::make_ask_in_steps(core->shared_runtime(), face::Pinging(core->runtime()), {}, std::move(receiver));
}

OperationPtr make_list(const std::shared_ptr<Core>& core, const std::string& pattern, InfoDetail detail, KeyForm what,
                       ReceiverPtr<Failure, std::vector<LockInfo>> receiver) {
  face::Listing listing(core->runtime(), pattern, detail, what);
  return face::make_ask_in_steps(core->shared_runtime(), std::move(listing), {}, std::move(receiver));
}

OperationPtr make_close(const std::shared_ptr<Core>& core, ReceiverPtr<> receiver) {
  return std::make_shared<AsyncClose>(core, std::move(receiver));
}

}  // namespace holdfast::detail
