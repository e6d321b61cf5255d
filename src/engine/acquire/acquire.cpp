#include "engine/acquire/acquire.hpp"

#include <holdfast/error.hpp>

#include "engine/acquire/acquire_op.hpp"
#include "engine/loop/own_loop.hpp"

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
  terms.renewed = options.lease.kind() == Lease::Kind::renewed;
  terms.length = options.lease.length().value_or(runtime.config().lease);
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
  Reporter::add(reporter.count.granted);
  if (took.contended) Reporter::add(reporter.count.contended);
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

}  // namespace holdfast::engine
