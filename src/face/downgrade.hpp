// Turning a writer into a reader: the check before anything is sent, for both the blocking and the asynchronous call.
#pragma once

#include <memory>

#include "engine/hold/claim.hpp"
#include "engine/hold/target.hpp"

namespace holdfast::face {

/// True: there is nothing to do. Throws Error, also if the hold is lost.
bool reads_already(const engine::Target& target, const std::shared_ptr<engine::Claim>& held);

}  // namespace holdfast::face
