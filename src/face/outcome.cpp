#include "face/outcome.hpp"

namespace holdfast::face {

Error error_about(const engine::Target& target, std::error_code error, std::string cause) {
  return {static_cast<Errc>(error.value()), target.name(), target.where(), std::move(cause)};
}

}  // namespace holdfast::face
