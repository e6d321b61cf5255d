// Changes of a number that must not be made twice, as questions: each has a name by which the server knows it again, so
// it is sent until it is answered.
#pragma once

#include <cstdint>
#include <optional>

#include "face/question.hpp"

namespace holdfast::face {

/// Redisson's numbers are Java's int.
inline constexpr std::int64_t kMostPermits = 2'147'483'647;

/// Throws Error(invalid_argument) if it is not a number from `least` to kMostPermits.
void require_number(const engine::KeyTarget& target, std::int64_t number, std::int64_t least, const char* what);

/// Of semaphores, those with leases as well. See Semaphore and LeasedSemaphore.
Question<bool> set_permits(const engine::KeyTarget& target, std::int64_t permits,
                           std::optional<std::chrono::milliseconds> lives = {});
Question<std::int64_t> add_permits(const engine::KeyTarget& target, std::int64_t permits);
/// Of leased semaphores.
Question<std::int64_t> set_total(const engine::KeyTarget& target, std::int64_t permits);
Question<std::int64_t> available_leased(const engine::KeyTarget& target);

}  // namespace holdfast::face
