// SPDX-License-Identifier: Apache-2.0
// Holders that somebody asks for their lock.
#pragma once

#include <functional>
#include <memory>

#include "lock/queue/tenancy.hpp"

namespace holdfast::engine {

/// Until the claim ends, `on_asked` runs on the notifier's thread whenever somebody asks the lock's holders for it.
void listen_asked(const std::shared_ptr<Claim>& claim, std::function<void()> on_asked);

}  // namespace holdfast::engine
