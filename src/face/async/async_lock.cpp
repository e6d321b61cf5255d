// Acquiring, releasing and watching without blocking: operations that report to a receiver.
#include <exception>

#include <holdfast/detail/hold_access.hpp>
#include <holdfast/detail/operation.hpp>

#include "engine/acquire/acquire_op.hpp"
#include "engine/hold/hold_release.hpp"
#include "engine/hold/tenancy.hpp"
#include "engine/runtime/runtime.hpp"
#include "face/counting.hpp"
#include "face/parts.hpp"
#include "face/receiving.hpp"
#include "timing/alarm.hpp"

namespace holdfast::detail {
namespace {

using engine::Acquired;
using engine::DefaultWait;
using engine::Loop;
using face::Receiving;

/// How a result is expressed: `acquire` returns a hold or fails, `try_acquire` returns none when somebody else has it.
struct Acquiring {
  using Result = Hold;
  static constexpr DefaultWait kDefaultWait = DefaultWait::wait_on;
  static bool is_result(std::error_code error, bool) { return !error; }
  static std::error_code as_failure(std::error_code error) { return face::as_waiting(error); }
};
struct Trying {
  using Result = MaybeHold;
  static constexpr DefaultWait kDefaultWait = DefaultWait::ask_once;
  static bool is_result(std::error_code error, bool cancelled) {
    return !error || (face::not_granted(error) && !(cancelled && error == Errc::cancelled));
  }
  static std::error_code as_failure(std::error_code error) { return error; }
};

/// An acquire that reports its outcome to a receiver.
template <class... Results>
class AsyncWait : public engine::AcquireOp, public Operation {
 public:
  AsyncWait(const Parts& parts, AcquireOptions options, engine::LeaseTerms lease, DefaultWait default_wait,
            const wire::Ask& ask, ReceiverPtr<Failure, Results...> receiver)
      : AcquireOp(parts.runtime, parts.target, std::move(options), lease, default_wait, ask),
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

 protected:
  /// False: the receiver no longer waits.
  bool tell(Results... results) { return receiving_.tell({}, std::move(results)...); }
  void tell_failure(Acquired failed) {
    receiving_.tell(Failure(face::error_about(*target(), std::move(failed))), Results()...);
  }
  bool cancelled() const { return cancelled_.load(); }

 private:
  virtual void tell_outcome(Acquired outcome) = 0;
  void done(Acquired outcome) final {
    tell_outcome(std::move(outcome));
    attended_ = {};
    pending_ = {};
  }

  Receiving<Failure, Results...> receiving_;
  std::atomic<bool> cancelled_{false};
  engine::Pending::Token pending_;
  Loop::Attended attended_;
};

template <class Way>
class AsyncAcquire final : public AsyncWait<typename Way::Result> {
 public:
  using Result = typename Way::Result;

  AsyncAcquire(const Parts& parts, AcquireOptions options, engine::LeaseTerms lease,
               ReceiverPtr<Failure, Result> receiver)
      : AsyncWait<Result>(parts, std::move(options), lease, Way::kDefaultWait, parts.ask, std::move(receiver)) {}

 private:
  void tell_outcome(Acquired outcome) override {
    Hold hold = HoldAccess::make_unwaiting(std::move(outcome.held));
    if (Way::is_result(outcome.error, this->cancelled())) {
      this->tell(hold ? Result(std::move(hold)) : Result());
    } else {
      outcome.error = Way::as_failure(outcome.error);
      this->tell_failure(std::move(outcome));
    }
  }
};

/// With its reference counts it stays below what the C library's malloc treats as a large block, which takes longer.
static_assert(sizeof(AsyncAcquire<Acquiring>) <= 1000 - 2 * sizeof(void*));

/// For kinds without a Hold: completes with nothing, or with whether it was granted in time.
template <class... Results>
class AsyncPass final : public AsyncWait<Results...> {
 public:
  using AsyncWait<Results...>::AsyncWait;

 private:
  void tell_outcome(Acquired outcome) override {
    constexpr bool kInTime = sizeof...(Results) > 0;
    const bool stopped = this->cancelled() && outcome.error == Errc::cancelled;
    if (outcome.error && (!kInTime || stopped || !face::not_granted(outcome.error))) {
      return this->tell_failure(std::move(outcome));
    }
    const bool told = this->tell(Results(!outcome.error)...);
    if (!told && outcome.held) engine::give_up(*outcome.held);  // nobody owns it, and it does not end by itself
  }
};

template <class... Results>
OperationPtr make_async_pass(const PartsPtr& parts, std::uint32_t permits,
                             std::optional<std::chrono::milliseconds> wait, std::stop_token stop,
                             ReceiverPtr<Failure, Results...> receiver) {
  try {
    const wire::Ask ask = face::permits_of(*parts, permits);
    AcquireOptions options = face::waiting(*parts, wait, std::move(stop));
    const engine::LeaseTerms lease = engine::lease_terms(*parts->runtime, options, parts->target->name());
    const DefaultWait default_wait = sizeof...(Results) > 0 ? DefaultWait::ask_once : DefaultWait::wait_on;
    return std::make_shared<AsyncPass<Results...>>(*parts, std::move(options), lease, default_wait, ask,
                                                   std::move(receiver));
  } catch (const Error& error) {
    return face::make_told<Failure, Results...>(std::move(receiver), Failure(error), Results()...);
  }
}

template <class Way>
OperationPtr make(const PartsPtr& parts, AcquireOptions options, ReceiverPtr<Failure, typename Way::Result> receiver) {
  try {
    if (parts->defaults) options = face::with_defaults(std::move(options), *parts->defaults);
    const engine::LeaseTerms lease = engine::lease_terms(*parts->runtime, options, parts->target->name());
    return std::make_shared<AsyncAcquire<Way>>(*parts, std::move(options), lease, std::move(receiver));
  } catch (const Error& error) {
    return face::make_told<Failure, typename Way::Result>(std::move(receiver), Failure(error), {});
  }
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
    if (runtime_->in_child()) return tell(ReleaseOutcome::was_lost);
    engine::Runtime::Admission admission = runtime_->admit();
    if (admission.refused) return tell(engine::end_with_client(*held_));
    pending_ = std::move(admission.token);
    if (engine::pass_on(*held_)) return tell(ReleaseOutcome::released);
    attended_ = Loop::Attended(runtime_->loop());
    runtime_->loop().post(shared_from_this());
  }
  void run() override {
    limit_.set_after(runtime_->config().release_timeout, shared_from_this());
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
  return make<Acquiring>(parts, std::move(options), std::move(receiver));
}

OperationPtr make_try_acquire(const PartsPtr& parts, AcquireOptions options, ReceiverPtr<Failure, MaybeHold> receiver) {
  return make<Trying>(parts, std::move(options), std::move(receiver));
}

OperationPtr make_pass(const PartsPtr& parts, std::uint32_t permits, std::stop_token stop,
                       ReceiverPtr<Failure> receiver) {
  return make_async_pass(parts, permits, {}, std::move(stop), std::move(receiver));
}

OperationPtr make_pass_in_time(const PartsPtr& parts, std::uint32_t permits, std::chrono::milliseconds wait,
                               std::stop_token stop, ReceiverPtr<Failure, bool> receiver) {
  return make_async_pass(parts, permits, wait, std::move(stop), std::move(receiver));
}

OperationPtr make_release(Hold hold, ReceiverPtr<ReleaseOutcome> receiver) {
  if (!hold) return face::make_told<ReleaseOutcome>(std::move(receiver), ReleaseOutcome::was_lost);
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
