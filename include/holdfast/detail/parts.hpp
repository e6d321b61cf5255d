// SPDX-License-Identifier: Apache-2.0
// What connects a lock to the engine. Not for users.
#pragma once

#include <memory>

namespace holdfast::detail {

struct DefaultToken;  // of async.hpp
struct Parts;
struct HandleAccess;  // of the interface for C
using PartsPtr = std::shared_ptr<const Parts>;

}  // namespace holdfast::detail
