// SPDX-License-Identifier: Apache-2.0
#include "lock/hold/acquire.hpp"

#include <utility>

#include <holdfast/error.hpp>

#include "lock/hold/acquire_op.hpp"
#include "lock/hold/hold_events.hpp"
#include "lock/runtime/job.hpp"
#include "lock/runtime/runtime.hpp"
#include "loop/own_loop.hpp"

namespace holdfast::engine {
namespace {

/// For a thread that waits for the result.
class BlockingAcquire final : public AcquireOp {
 public:
  using AcquireOp::AcquireOp;

  Answer answer;
  Acquired result;

 private:
  void waits() noexcept override { answer.comes_late(); }
  void done(Acquired outcome) override {
    result = std::move(outcome);
    runtime()->own_loop()->set(answer);
  }
};

}  // namespace

LeaseTerms lease_terms(const Runtime& runtime, const AcquireOptions& options, const std::string& name) {
  LeaseTerms terms;
  const Lease lease = options.lease.value_or(Lease());
  terms.renewed = lease.kind() == Lease::Kind::renewed;
  terms.length = lease.length().value_or(runtime.config().lease);
  terms.max_hold = options.max_hold;
  terms.acks = options.acks.value_or(runtime.config().acks);
  if (terms.length < kShortestLease || terms.length > kLongestLease) {
    throw Error(Errc::invalid_argument, name, runtime.node(),
                "a lease of " + std::to_string(terms.length.count()) + " ms; it must be between 10 ms and 10 years");
  }
  if (terms.max_hold && (terms.max_hold->count() <= 0 || *terms.max_hold > kLongestLease)) {
    throw Error(Errc::invalid_argument, name, runtime.node(),
                "max_hold of " + std::to_string(terms.max_hold->count()) + " ms; it must be above 0, up to 10 years");
  }
  return terms;
}

void report_granted(Reporter& reporter, const Claim& held, const Took& took) {
  reporter.meter.on_acquire(held.target()->lock_class(), Meter::Result::granted, took.waited);
  reporter.add(&Counters::granted);
  if (took.contended) reporter.add(&Counters::contended);
  reporter.tell(&Observer::on_granted, [&] {
    return GrantedEvent{held.target()->name(), held.tenancy().owner().text, took.waited, took.contended, took.waiting,
                        took.since_woken};
  });
}

std::optional<Acquired> acquire_at_once(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target,
                                        const AcquireOptions& options, const LeaseTerms& lease, const wire::Ask& ask) {
  if (const std::error_code error = runtime->unusable()) return Acquired{nullptr, error, {}};
  if (options.stop.stop_requested()) return Acquired{nullptr, Errc::cancelled, {}};
  std::shared_ptr<Claim> held = target->join({ask, lease, options.on_lost, Target::Joining::From::newcomer});
  if (!held) return std::nullopt;
  report_granted(runtime->reporter(), *held, {});
  return Acquired{std::move(held), {}, {}};
}

Acquired acquire(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target,
                 const AcquireOptions& options, DefaultWait default_wait, const wire::Ask& ask) {
  runtime->require_waiting(target->name());
  const LeaseTerms lease = lease_terms(*runtime, options, target->name());
  if (std::optional<Acquired> known = acquire_at_once(runtime, target, options, lease, ask)) return std::move(*known);
  const auto op = std::make_shared<BlockingAcquire>(runtime, target, options, lease, default_wait, ask);
  runtime->own_loop()->call(op, op->answer, TimePoint::max());
  if (!op->answer.is_there()) return {nullptr, runtime->in_child() ? Errc::forked : Errc::closed, {}};
  return std::move(op->result);
}

namespace {

using base::Clock;

class Adopting final : public Job<Acquired>, public std::enable_shared_from_this<Adopting> {
 public:
  Adopting(std::shared_ptr<Runtime> runtime, std::shared_ptr<Target> target, wire::Grant grant, const LeaseTerms& lease,
           const std::function<void(const LostEvent&)>& on_lost)
      : runtime_(std::move(runtime)),
        target_(std::move(target)),
        grant_(std::move(grant)),
        lease_(lease),
        on_lost_(on_lost) {}

  void run() override {
    const TimePoint now = Clock::now();
    const wire::Owner owner = grant_.owner;
    tenancy_ = target_->make_tenancy(runtime_, owner, owner.ask, now, lease_, on_lost_,
                                     std::make_unique<const wire::Grant>(std::move(grant_)));
    target_->renew(tenancy_, lease_.length,
                   [self = shared_from_this()](const Renewed& renewed) { self->on_answer(renewed); });
  }
  void broken() noexcept override { tell({nullptr, Errc::exhausted, {}}); }

 private:
  void on_answer(const Renewed& renewed) {
    const std::shared_ptr<Tenancy> tenancy = std::move(tenancy_);
    switch (renewed.kind) {
      case Renewed::Kind::extended:
        return on_extended(tenancy, renewed);
      case Renewed::Kind::gone:
        return tell({nullptr, Errc::lost, "the server says that it is not this owner's"});
      case Renewed::Kind::unanswered:
        break;
    }
    tell({nullptr, Errc::unknown_outcome, renewed.cause});
  }
  void on_extended(const std::shared_ptr<Tenancy>& tenancy, const Renewed& renewed) {
    if (Clock::now() >= lease_end(renewed.sent_at, lease_.length)) {
      return tell({nullptr, Errc::unknown_outcome, "the answer came after the lease was over"});
    }
    on_renewed(*tenancy, renewed.sent_at, Clock::now(), renewed.acks_era);
    target_->set_tenancy(*tenancy, 0);
    target_->arm(tenancy);
    report_granted(runtime_->reporter(), *tenancy->first_claim(), {});
    tell({tenancy->first_claim(), {}, {}});
  }

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Target> target_;
  wire::Grant grant_;
  const LeaseTerms lease_;
  const std::function<void(const LostEvent&)> on_lost_;
  std::shared_ptr<Tenancy> tenancy_;  // until the server has confirmed it
};

}  // namespace

Acquired adopt(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
               const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost) {
  runtime->require_waiting(target->name());
  const auto adopting = std::make_shared<Adopting>(runtime, target, std::move(grant), lease, on_lost);
  std::optional<Acquired> adopted = Adopting::ask(*runtime, adopting, TimePoint::max());
  if (!adopted) return {nullptr, runtime->in_child() ? Errc::forked : Errc::closed, {}};
  return *std::move(adopted);
}

void adopt_async(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
                 const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost,
                 std::function<void(Acquired)> done) {
  Adopting::ask(*runtime, std::make_shared<Adopting>(runtime, target, std::move(grant), lease, on_lost),
                std::move(done));
}

}  // namespace holdfast::engine
