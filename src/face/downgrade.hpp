// A writer that goes on as a reader: what is checked before anything is sent, by both faces.
#pragma once

#include <memory>

#include "engine/hold/claim.hpp"
#include "engine/hold/target.hpp"

namespace holdfast::face {

/// True: there is nothing to be done. Throws Error, also if it has been lost.
bool reads_already(const engine::Target& target, const std::shared_ptr<engine::Claim>& held);

}  // namespace holdfast::face
