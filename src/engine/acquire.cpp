#include "engine/acquire.hpp"

#include <holdfast/error.hpp>

#include "engine/acquire_op.hpp"

namespace holdfast::engine {
namespace {

/// The face for a thread that waits for the result.
class BlockingAcquire final : public AcquireOp {
 public:
  using AcquireOp::AcquireOp;

  Loop::Answer answer;
  Acquired result;

 private:
  void done(Acquired outcome) override {
    result = std::move(outcome);
    core().loop().set(answer);
  }
};

}  // namespace

void report_granted(Reporter& reporter, const HeldLock& held, Duration waited, bool contended) {
  Reporter::add(reporter.count.granted);
  if (contended) Reporter::add(reporter.count.contended);
  reporter.tell(&Observer::on_granted, [&] { return GrantedEvent{held.name(), held.owner().text, waited, contended}; });
}

Acquired acquire(const std::shared_ptr<Core>& core, const std::shared_ptr<Target>& target,
                 const AcquireOptions& options, NoLimit no_limit) {
  if (const std::error_code error = core->unusable()) return {nullptr, error, {}};
  if (options.stop.stop_requested()) return {nullptr, Errc::cancelled, {}};
  const LeaseTerms lease = core->lease_terms(options, target->name());
  const Target::Taken taken = target->take_kept({core, lease, options.on_lost, false});
  if (taken.held) {
    report_granted(core->reporter(), *taken.held, {}, false);
    return {taken.held, {}, {}};
  }
  const auto op = std::make_shared<BlockingAcquire>(core, target, options, lease, no_limit);
  core->loop().call(op, op->answer, TimePoint::max());
  if (!op->answer.is_there()) return {nullptr, core->in_child() ? Errc::forked : Errc::closed, {}};
  return std::move(op->result);
}

}  // namespace holdfast::engine
