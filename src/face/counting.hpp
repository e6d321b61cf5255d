// SPDX-License-Identifier: Apache-2.0
// What the counting kinds have in common: reading and changing a number, and waits that end without a hold.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include <holdfast/detail/counting.hpp>

#include "face/parts.hpp"
#include "face/queries.hpp"
#include "lock/hold/acquire.hpp"

namespace holdfast::face {

/// The query or change to send. A change that must not be made twice has an id that the server recognises, so it is
/// resent until it is answered. Throws Error(invalid_argument) for a number out of range. As a number, yes is 1, no is
/// 0; `Result` is std::int64_t or bool.
template <class Result>
Question<Result> counting(const engine::KeyTarget& target, detail::Counting what, std::int64_t number = 0,
                          std::optional<std::chrono::milliseconds> lives = {});

/// Sends it and waits for the answer. Throws Error.
inline std::int64_t count(const detail::Parts& parts, detail::Counting what, std::int64_t number = 0,
                          std::optional<std::chrono::milliseconds> lives = {}) {
  return ask(*parts.runtime, counting<std::int64_t>(key_target(parts), what, number, lives));
}

/// Gives permits of a semaphore to a waiting caller of this client, without sending anything. False: nobody waits, or
/// others come first.
bool pass_on(const detail::Parts& parts, std::int64_t permits);

/// The options for waiting on a kind without holds (Traits::holds): not renewed, no acks. The lease only limits how
/// long a failed acquire is being undone (engine::undone_for), since no lease ends it by itself.
AcquireOptions waiting(const detail::Parts& parts, std::optional<std::chrono::milliseconds> wait, std::stop_token stop);
/// The request for this many permits. Throws Error(invalid_argument) for 0, and for more than Redisson's int.
wire::Ask permits_of(const detail::Parts& parts, std::int64_t permits);
/// True: granted. False: not in time, or stopped. Throws every other Error.
bool pass_in_time(const detail::Parts& parts, std::optional<std::chrono::milliseconds> wait, std::stop_token stop,
                  const wire::Ask& ask);
/// The same, but throws those as well.
void pass(const detail::Parts& parts, std::stop_token stop, const wire::Ask& ask);

}  // namespace holdfast::face
