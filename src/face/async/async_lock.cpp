// SPDX-License-Identifier: Apache-2.0
// Acquiring, releasing and watching without blocking: operations that report to a receiver.
#include <exception>
#include <type_traits>

#include <holdfast/detail/hold_access.hpp>
#include <holdfast/detail/operation.hpp>

#include "face/counting.hpp"
#include "face/parts.hpp"
#include "face/queries.hpp"
#include "lock/hold/acquire_op.hpp"
#include "lock/hold/hold_release.hpp"
#include "lock/queue/tenancy.hpp"
#include "lock/runtime/runtime.hpp"
#include "loop/alarm.hpp"

namespace holdfast::detail {
namespace {

using engine::Acquired;
using engine::DefaultWait;
using engine::Loop;
using face::Receiving;

/// An acquire that reports its outcome to a receiver. With a Hold, or with nothing, it has failed if it was not
/// granted; with a MaybeHold or a bool that is a result. Kinds without a Hold have the bool, or nothing.
template <class... Results>
class AsyncAcquire final : public engine::AcquireOp, public Operation {
 public:
  static constexpr bool kMustBeGranted = (std::is_same_v<Results, Hold> && ...);
  static constexpr bool kHolds = !(std::is_same_v<Results, bool> && ...);

  AsyncAcquire(const Parts& parts, AcquireOptions options, engine::LeaseTerms lease, const wire::Ask& ask,
               ReceiverPtr<Failure, Results...> receiver)
      : AcquireOp(parts.runtime, parts.target, std::move(options), lease,
                  kMustBeGranted ? DefaultWait::wait_on : DefaultWait::ask_once, ask),
        receiving_(std::move(receiver)) {}

  void start() override {
    pending_ = runtime()->pending().begin();  // close() waits until it has reported, or its flag is seen now
    if (std::optional<Acquired> known = at_once()) return done(std::move(*known));
    attended_ = Loop::Attended(runtime()->loop());
    runtime()->loop().post(shared_from_this());
  }
  void cancel() noexcept override {
    cancelled_.store(true);
    stop();
  }
  void abandon() noexcept override {
    receiving_.drop();
    cancel();
  }

 private:
  void done(Acquired outcome) override {
    tell(std::move(outcome));
    attended_ = {};
    pending_ = {};
  }
  void tell(Acquired outcome) {
    const bool stopped = cancelled_.load() && outcome.error == Errc::cancelled;
    if (outcome.error && (kMustBeGranted || stopped || !face::not_granted(outcome.error))) {
      if (kMustBeGranted) outcome.error = face::as_waiting(outcome.error);
      receiving_.tell(Failure(face::error_about(*target(), std::move(outcome))), Results()...);
    } else if constexpr (kHolds) {
      if constexpr (!kMustBeGranted) {
        if (outcome.error) return void(receiving_.tell({}, Results(face::reason_of(outcome.error))...));
      }
      receiving_.tell({}, Results(HoldAccess::make(std::move(outcome.held), options().end_waits.value_or(false)))...);
    } else {
      const bool told = receiving_.tell({}, Results(!outcome.error)...);
      if (!told && outcome.held) engine::give_up(*outcome.held);  // nobody owns it, and it does not end by itself
    }
  }

  Receiving<Failure, Results...> receiving_;
  std::atomic<bool> cancelled_{false};
  engine::Pending::Token pending_;
  Loop::Attended attended_;
};

#if defined(__GLIBC__) && defined(__GLIBCXX__)  // with another C++ library it is larger
/// With its reference counts it stays below what glibc's malloc treats as a large block, which takes longer.
static_assert(sizeof(AsyncAcquire<Hold>) <= 1000 - 2 * sizeof(void*));
#endif

template <class... Results>
OperationPtr make(const Parts& parts, AcquireOptions options, const wire::Ask& ask,
                  ReceiverPtr<Failure, Results...>& receiver) {
  const engine::LeaseTerms lease = engine::lease_terms(*parts.runtime, options, parts.target->name());
  return std::make_shared<AsyncAcquire<Results...>>(parts, std::move(options), lease, ask, std::move(receiver));
}

template <class Result>
OperationPtr make_hold(const Parts& parts, AcquireOptions options, ReceiverPtr<Failure, Result> receiver) {
  return face::make_or_tell(std::move(receiver), [&](ReceiverPtr<Failure, Result>& whom) {
    if (parts.defaults) options = face::with_defaults(std::move(options), *parts.defaults);
    return make(parts, std::move(options), parts.ask, whom);
  });
}

template <class... Results>
OperationPtr make_without_hold(const Parts& parts, std::int64_t permits, std::optional<std::chrono::milliseconds> wait,
                               std::stop_token stop, ReceiverPtr<Failure, Results...> receiver) {
  return face::make_or_tell(std::move(receiver), [&](ReceiverPtr<Failure, Results...>& whom) {
    const wire::Ask ask = face::permits_of(parts, permits);
    return make(parts, face::waiting(parts, wait, std::move(stop)), ask, whom);
  });
}

/// Bounded by `release_timeout`; then the outcome is unknown, and the release continues. If it cannot be started for
/// lack of memory, it still gives up the hold.
class AsyncRelease final : public Loop::Task, public Operation, public std::enable_shared_from_this<AsyncRelease> {
 public:
  AsyncRelease(Hold&& hold, ReceiverPtr<ReleaseOutcome> receiver)
      : held_(HoldAccess::take(hold)),
        runtime_(held_->runtime()),
        receiving_(std::move(receiver)),
        limit_(runtime_->loop().schedule(), [this] { tell(ReleaseOutcome::unknown); }) {}
  ~AsyncRelease() override {
    if (!started_) engine::give_up(*held_);
  }

  void start() override {
    started_ = true;
    if (const std::optional<ReleaseOutcome> known = engine::release_here(*held_, pending_)) return tell(*known);
    attended_ = Loop::Attended(runtime_->loop());
    runtime_->loop().post(shared_from_this());
  }
  void run() override {
    limit_.set_after(runtime_->config().timing.release_timeout, shared_from_this());
    engine::release_async(*held_, [self = shared_from_this()](ReleaseOutcome outcome) { self->on_released(outcome); });
  }
  void broken() noexcept override {
    engine::give_up(*held_);
    try {
      tell(ReleaseOutcome::unknown);
    } catch (...) {
      // Out of memory: the receiver is dropped.
    }
  }
  void cancel() noexcept override {
    runtime_->loop().defer([self = shared_from_this()] { self->tell(ReleaseOutcome::unknown); });
  }
  void abandon() noexcept override { receiving_.drop(); }

 private:
  void on_released(ReleaseOutcome outcome) {
    limit_.cancel();
    tell(outcome);
  }
  void tell(ReleaseOutcome outcome) {
    if (!receiving_.tell(outcome)) return;
    pending_ = {};
    attended_ = {};
  }

  const std::shared_ptr<Claim> held_;
  const std::shared_ptr<engine::Runtime> runtime_;
  bool started_ = false;
  Receiving<ReleaseOutcome> receiving_;
  engine::Pending::Token pending_;
  Loop::Attended attended_;
  timing::Alarm limit_;
};

/// The hold's list of watches keeps it alive.
class AsyncWaitLost final : public Operation, public std::enable_shared_from_this<AsyncWaitLost> {
 public:
  AsyncWaitLost(std::shared_ptr<Claim> held, ReceiverPtr<Failure, LossReason> receiver)
      : held_(std::move(held)), receiving_(std::move(receiver)) {}

  void start() override {
    watching_.store(held_->watch([self = shared_from_this()](std::optional<LossReason> lost) {
      if (lost) {
        self->receiving_.tell({}, *lost);
      } else {
        self->tell_cancelled("the hold was released");
      }
    }));
  }
  void cancel() noexcept override {
    held_->unwatch(watching_.load());
    tell_cancelled({});
  }
  void abandon() noexcept override {
    receiving_.drop();
    held_->unwatch(watching_.load());
  }

 private:
  void tell_cancelled(std::string cause) {
    receiving_.tell(Failure(face::error_about(*held_->target(), Errc::cancelled, std::move(cause))), {});
  }

  const std::shared_ptr<Claim> held_;
  Receiving<Failure, LossReason> receiving_;
  std::atomic<std::uint64_t> watching_{0};
};

}  // namespace

OperationPtr make_acquire(const PartsPtr& parts, AcquireOptions options, ReceiverPtr<Failure, Hold> receiver) {
  return make_hold(*parts, std::move(options), std::move(receiver));
}

OperationPtr make_try_acquire(const PartsPtr& parts, AcquireOptions options, ReceiverPtr<Failure, MaybeHold> receiver) {
  return make_hold(*parts, std::move(options), std::move(receiver));
}

OperationPtr make_pass(const PartsPtr& parts, std::int64_t permits, std::stop_token stop,
                       ReceiverPtr<Failure> receiver) {
  return make_without_hold(*parts, permits, {}, std::move(stop), std::move(receiver));
}

OperationPtr make_pass_in_time(const PartsPtr& parts, std::int64_t permits, std::chrono::milliseconds wait,
                               std::stop_token stop, ReceiverPtr<Failure, bool> receiver) {
  return make_without_hold(*parts, permits, wait, std::move(stop), std::move(receiver));
}

OperationPtr make_release(Hold hold, ReceiverPtr<ReleaseOutcome> receiver) {
  if (!hold) return face::make_told<ReleaseOutcome>(std::move(receiver), ReleaseOutcome::empty);
  return std::make_shared<AsyncRelease>(std::move(hold), std::move(receiver));
}

OperationPtr make_wait_lost(std::shared_ptr<Claim> held, ReceiverPtr<Failure, LossReason> receiver) {
  if (held) return std::make_shared<AsyncWaitLost>(std::move(held), std::move(receiver));
  return face::make_told<Failure, LossReason>(std::move(receiver),
                                              Failure(Error(Errc::not_owner, {}, {}, "the hold is empty")), {});
}

void throw_lost(const Claim& held, const std::exception_ptr& nested) {
  Error error = face::error_about(*held.target(), Errc::lost, {});
  if (!nested) throw error;
  try {
    std::rethrow_exception(nested);
  } catch (...) {
    std::throw_with_nested(std::move(error));
  }
}

}  // namespace holdfast::detail
