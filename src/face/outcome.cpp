#include "face/outcome.hpp"

#include <chrono>

#include "engine/hold/claim.hpp"

namespace holdfast::face {

Error error_about(const engine::Acquirable& target, std::error_code error, std::string cause,
                  std::optional<bool> may_pass) {
  return {static_cast<Errc>(error.value()), target.name(), target.where(), std::move(cause), may_pass};
}

Error error_about(const engine::Acquirable& target, engine::Acquired&& failed) {
  return error_about(target, failed.error, std::move(failed.cause), failed.may_pass);
}

void require_valid(engine::Claim& held) {
  if (std::chrono::floor<std::chrono::milliseconds>(held.valid_for()).count() > 0) return;
  throw error_about(*held.target(), Errc::lost, {});
}

}  // namespace holdfast::face
