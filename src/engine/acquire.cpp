#include "engine/acquire.hpp"

#include <holdfast/error.hpp>

#include "engine/acquire_op.hpp"

namespace holdfast::engine {

Acquired acquire(const std::shared_ptr<Core>& core, const std::shared_ptr<Target>& target,
                 const AcquireOptions& options, NoLimit no_limit) {
  if (const std::error_code error = core->unusable()) return {nullptr, error, {}};
  if (options.stop.stop_requested()) return {nullptr, Errc::cancelled, {}};
  struct Slot {
    Loop::Answer answer;
    Acquired result;
  };
  const auto slot = std::make_shared<Slot>();
  auto op = std::make_shared<AcquireOp>(core, target, options, no_limit, [slot, loop = &core->loop()](Acquired result) {
    slot->result = std::move(result);
    loop->set(slot->answer);
  });
  core->loop().call([op = std::move(op)] { op->start(); }, slot->answer, TimePoint::max());
  if (!slot->answer.is_there()) return {nullptr, core->in_child() ? Errc::forked : Errc::closed, {}};
  return std::move(slot->result);
}

}  // namespace holdfast::engine
