#include "engine/acquire/acquire.hpp"

#include <holdfast/error.hpp>

#include "engine/acquire/acquire_op.hpp"

namespace holdfast::engine {
namespace {

/// The face for a thread that waits for the result.
class BlockingAcquire final : public AcquireOp {
 public:
  using AcquireOp::AcquireOp;

  OwnLoop::Answer answer;
  Acquired result;

 private:
  void waits() noexcept override { answer.comes_late(); }
  void done(Acquired outcome) override {
    result = std::move(outcome);
    core()->own_loop()->set(answer);
  }
};

}  // namespace

void report_granted(Reporter& reporter, const HeldLock& held, Duration waited, bool contended) {
  Reporter::add(reporter.count.granted);
  if (contended) Reporter::add(reporter.count.contended);
  reporter.tell(&Observer::on_granted, [&] { return GrantedEvent{held.name(), held.owner().text, waited, contended}; });
}

std::optional<Acquired> acquire_at_once(const std::shared_ptr<Core>& core, const std::shared_ptr<Target>& target,
                                        const AcquireOptions& options, const LeaseTerms& lease) {
  if (const std::error_code error = core->unusable()) return Acquired{nullptr, error, {}};
  if (options.stop.stop_requested()) return Acquired{nullptr, Errc::cancelled, {}};
  const Target::Taken taken = target->take_kept({core, lease, options.on_lost, false});
  if (!taken.held) return std::nullopt;
  report_granted(core->reporter(), *taken.held, {}, false);
  return Acquired{taken.held, {}, {}};
}

Acquired acquire(const std::shared_ptr<Core>& core, const std::shared_ptr<Target>& target,
                 const AcquireOptions& options, DefaultWait default_wait) {
  core->require_waiting(target->name());
  const LeaseTerms lease = core->lease_terms(options, target->name());
  if (std::optional<Acquired> known = acquire_at_once(core, target, options, lease)) return std::move(*known);
  const auto op = std::make_shared<BlockingAcquire>(core, target, options, lease, default_wait);
  core->own_loop()->call(op, op->answer, TimePoint::max());
  if (!op->answer.is_there()) return {nullptr, core->in_child() ? Errc::forked : Errc::closed, {}};
  return std::move(op->result);
}

}  // namespace holdfast::engine
