// Typed calls of the fenced lock (docs/wire.md section 2): the plain lock's, and an acquire that counts.
#pragma once

#include <string>
#include <string_view>

#include "wire/calls.hpp"

namespace holdfast::wire::fenced {

/// The counter of this lock's tokens: Redisson's key.
std::string counter(std::string_view key);

base::Command acquire(const AcquireCall& call);
/// Granted only with a token.
AcquireReply decode_acquire(const base::Reply& reply);

base::Command latest_token(std::string_view key);  ///< GET of the counter
/// 0: there has been none yet, or the counter is gone.
std::int64_t decode_latest_token(const base::Reply& reply);

}  // namespace holdfast::wire::fenced
