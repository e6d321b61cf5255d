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

Acquired acquire(const std::shared_ptr<Core>& core, const std::shared_ptr<Target>& target,
                 const AcquireOptions& options, NoLimit no_limit) {
  if (const std::error_code error = core->unusable()) return {nullptr, error, {}};
  if (options.stop.stop_requested()) return {nullptr, Errc::cancelled, {}};
  const auto op = std::make_shared<BlockingAcquire>(core, target, options, no_limit);
  core->loop().call(op, op->answer, TimePoint::max());
  if (!op->answer.is_there()) return {nullptr, core->in_child() ? Errc::forked : Errc::closed, {}};
  return std::move(op->result);
}

}  // namespace holdfast::engine
