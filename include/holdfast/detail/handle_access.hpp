// SPDX-License-Identifier: Apache-2.0
// What the interface for C may do with handles: reach what they stand for. Not for users.
#pragma once

#include <memory>

#include <holdfast/client.hpp>
#include <holdfast/detail/parts.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/semaphore.hpp>

namespace holdfast::detail {

struct HandleAccess {
  static const PartsPtr& parts(const BasicLock& lock) noexcept { return lock.parts_; }
  static const PartsPtr& parts(const Semaphore& semaphore) noexcept { return semaphore.parts_; }
  static const PartsPtr& parts(const Latch& latch) noexcept { return latch.parts_; }
  static const std::shared_ptr<engine::Core>& core(const Client& client) { return client.core(); }
};

}  // namespace holdfast::detail
