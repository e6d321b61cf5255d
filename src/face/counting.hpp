// What the counting kinds have in common: questions and changes of a number, and waits that end with nothing to hold.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include <holdfast/detail/counting.hpp>

#include "engine/acquire/acquire.hpp"
#include "face/parts.hpp"
#include "face/question.hpp"

namespace holdfast::face {

/// What is put to the server. A change that must not be made twice has a name by which the server knows it again, so it
/// is sent until it is answered. Throws Error(invalid_argument) for a number that makes no sense. Yes is 1, no is 0.
Question<std::int64_t> counting(const engine::KeyTarget& target, detail::Counting what, std::int64_t number = 0,
                                std::optional<std::chrono::milliseconds> lives = {});

/// Asks, and waits. Throws Error.
inline std::int64_t count(const detail::Parts& parts, detail::Counting what, std::int64_t number = 0,
                          std::optional<std::chrono::milliseconds> lives = {}) {
  return ask(*parts.runtime, counting(key_target(parts), what, number, lives));
}

/// Permits of a semaphore, given to a caller of this client who waits: nothing is sent. False: there is none, or others
/// come first.
bool pass_on(const detail::Parts& parts, std::int64_t permits);

/// How to wait for what a kind grants that is not held (Traits::holds): renewed and confirmed by nobody. Its lease is
/// only for how long it is undone where it failed, since no end of a lease does that: at least for Config::patience.
AcquireOptions waiting(const detail::Parts& parts, std::optional<std::chrono::milliseconds> wait, std::stop_token stop);
/// The permits, as an owner asks for them. Throws Error(invalid_argument) for 0, and for more than Redisson's int.
wire::Ask permits_of(const detail::Parts& parts, std::uint32_t permits);
/// True: granted. False: not in time, or stopped. Throws every other Error.
bool pass_in_time(const detail::Parts& parts, std::optional<std::chrono::milliseconds> wait, std::stop_token stop,
                  const wire::Ask& ask);
/// Throws those as well.
void pass(const detail::Parts& parts, std::stop_token stop, const wire::Ask& ask);

}  // namespace holdfast::face
