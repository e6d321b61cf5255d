#include "face/parts.hpp"

#include <utility>

#include "engine/acquire/acquire.hpp"

namespace holdfast::face {

detail::PartsPtr make_parts(std::shared_ptr<engine::Runtime> runtime, std::shared_ptr<engine::Target> target,
                            AcquireOptions defaults) {
  static_cast<void>(engine::lease_terms(*runtime, defaults, target->name()));
  return std::make_shared<const detail::Parts>(
      detail::Parts{std::move(runtime), std::move(target), std::move(defaults)});
}

}  // namespace holdfast::face
