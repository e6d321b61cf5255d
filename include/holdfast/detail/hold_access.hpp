// SPDX-License-Identifier: Apache-2.0
// What the library alone may do with a hold: make one, and reach inside. Not for users.
#pragma once

#include <memory>
#include <utility>

#include <holdfast/hold.hpp>

namespace holdfast::detail {

struct HoldAccess {
  /// `waits`: see AcquireOptions::end_waits.
  static Hold make(std::shared_ptr<engine::Claim> held, bool waits) noexcept {
    Hold hold(std::move(held));
    hold.waits_ = waits;
    return hold;
  }
  static const std::shared_ptr<engine::Claim>& held(const Hold& hold) noexcept { return hold.held_; }
  /// Leaves the hold empty, without releasing anything.
  static std::shared_ptr<engine::Claim> take(Hold& hold) noexcept { return std::move(hold.held_); }
};

}  // namespace holdfast::detail
