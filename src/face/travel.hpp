// SPDX-License-Identifier: Apache-2.0
// Extending, adopting and downgrading holds: the checks before anything is sent, for both the blocking and the
// asynchronous calls.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/options.hpp>

#include "face/parts.hpp"
#include "lock/hold/acquire.hpp"

namespace holdfast::face {

/// Checks that this hold has a fixed lease that can be set to this. Throws Error.
void require_extendable(const std::shared_ptr<engine::Claim>& held, std::chrono::milliseconds lease);

/// What a ticket requests.
struct Adoption {
  wire::Grant grant;
  engine::LeaseTerms lease;
  std::function<void(const LostEvent&)> on_lost;
};
/// For the handle that adopts it. Throws Error(invalid_argument).
Adoption adoption_of(const detail::Parts& parts, std::string_view ticket, const AdoptOptions& options);

/// For turning a writer into a reader. True: there is nothing to do. Throws Error, also if the hold is lost.
bool reads_already(const engine::Target& target, const std::shared_ptr<engine::Claim>& held);

}  // namespace holdfast::face
