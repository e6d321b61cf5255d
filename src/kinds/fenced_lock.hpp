// SPDX-License-Identifier: Apache-2.0
// Typed calls of the fenced lock (docs/wire.md section 2): the plain lock's, and an acquire that numbers its grants.
#pragma once

#include <string>
#include <string_view>

#include "kinds/calls.hpp"

namespace holdfast::wire::fenced {

/// The counter of this lock's tokens: Redisson's key.
std::string counter(std::string_view key);

base::Command acquire(const AcquireCall& call);
/// A reply counts as granted only with a token.
AcquireReply decode_acquire(const base::Reply& reply);

base::Command latest_token(std::string_view key);  ///< GET of the counter
/// 0: none yet, or the counter is gone. Empty: it is no number.
std::optional<std::int64_t> decode_latest_token(const base::Reply& reply);

}  // namespace holdfast::wire::fenced
