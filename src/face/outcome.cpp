#include "face/outcome.hpp"

#include "engine/client/core.hpp"

namespace holdfast::face {

Error error_about(const engine::Core& core, const engine::Target& target, std::error_code error, std::string cause) {
  return {static_cast<Errc>(error.value()), target.name(), target.where(core), std::move(cause)};
}

}  // namespace holdfast::face
