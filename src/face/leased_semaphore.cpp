#include <holdfast/error.hpp>
#include <holdfast/leased_semaphore.hpp>

#include "face/counting.hpp"
#include "face/outcome.hpp"
#include "wire/permits_calls.hpp"

namespace holdfast {

static_assert(LeasedSemaphore::kMostPermits == wire::permits::kMostPermits);

using detail::Counting;

LeasedSemaphore LeasedSemaphore::with_permits(std::uint32_t permits) const {
  if (permits == 0 || permits > kMostPermits) {
    throw face::error_about(
        *parts()->target, Errc::invalid_argument,
        std::to_string(permits) + " permits at once; it must be from 1 to " + std::to_string(kMostPermits));
  }
  AcquireOptions defaults = parts()->defaults ? *parts()->defaults : AcquireOptions();
  return LeasedSemaphore(face::make_parts(parts()->runtime, parts()->target, std::move(defaults),
                                          {.mode = wire::Mode::exclusive, .permits = permits}));
}

std::int64_t LeasedSemaphore::available() const { return face::count(*parts(), Counting::available_leased); }
bool LeasedSemaphore::set(std::int64_t permits) const {
  return face::count(*parts(), Counting::set_leased, permits) == 1;
}
std::int64_t LeasedSemaphore::set_total(std::int64_t permits) const {
  return face::count(*parts(), Counting::set_total, permits);
}
std::int64_t LeasedSemaphore::add(std::int64_t permits) const {
  return face::count(*parts(), Counting::add_leased, permits);
}

}  // namespace holdfast
