// Holds that travel: what is checked before anything is sent, by the blocking face and the asynchronous one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/options.hpp>

#include "engine/acquire/acquire.hpp"
#include "face/parts.hpp"

namespace holdfast::face {

/// That this hold's fixed lease can be set to that. Throws Error.
void require_extendable(const std::shared_ptr<engine::Claim>& held, std::chrono::milliseconds lease);

/// What a ticket asks for.
struct Adoption {
  wire::Grant grant;
  engine::LeaseTerms lease;
  std::function<void(const LostEvent&)> on_lost;
};
/// By the handle that is to take it up. Throws Error(invalid_argument).
Adoption adoption_of(const detail::Parts& parts, std::string_view ticket, const AcquireOptions& options);

}  // namespace holdfast::face
