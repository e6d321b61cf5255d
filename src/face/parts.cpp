#include "face/parts.hpp"

#include <utility>

#include <holdfast/error.hpp>

#include "engine/acquire/acquire.hpp"
#include "face/defaults.hpp"

namespace holdfast::face {

detail::PartsPtr make_parts(std::shared_ptr<engine::Runtime> runtime, std::shared_ptr<engine::Target> target,
                            AcquireOptions defaults, const wire::Ask& ask) {
  static_cast<void>(engine::lease_terms(*runtime, defaults, target->name()));
  if (defaults.reentrant.value_or(false) && !target->plan().traits.reentrant) {
    throw Error(Errc::invalid_argument, target->name(), runtime->node(), "locks of this kind are not re-entrant");
  }
  engine::Meter& meter = runtime->reporter().meter;
  if (meter.classifies() && target->lock_class() == 0) target->set_lock_class(meter.class_of(target->name()));
  std::unique_ptr<const AcquireOptions> some;
  if (!are_empty(defaults)) some = std::make_unique<const AcquireOptions>(std::move(defaults));
  return std::make_shared<const detail::Parts>(
      detail::Parts{std::move(runtime), std::move(target), std::move(some), ask});
}

}  // namespace holdfast::face
