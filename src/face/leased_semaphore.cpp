#include <holdfast/error.hpp>
#include <holdfast/leased_semaphore.hpp>

#include "face/change.hpp"
#include "face/outcome.hpp"
#include "face/parts.hpp"
#include "wire/permits_calls.hpp"

namespace holdfast {

static_assert(LeasedSemaphore::kMostPermits == wire::permits::kMostPermits);

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

std::int64_t LeasedSemaphore::available() const {
  return face::ask(*parts()->runtime, face::available_leased(face::key_target(*parts())));
}

bool LeasedSemaphore::set(std::int64_t permits) const {
  return face::ask(*parts()->runtime, face::set_permits(face::key_target(*parts()), permits));
}

std::int64_t LeasedSemaphore::set_total(std::int64_t permits) const {
  return face::ask(*parts()->runtime, face::set_total(face::key_target(*parts()), permits));
}

std::int64_t LeasedSemaphore::add(std::int64_t permits) const {
  return face::ask(*parts()->runtime, face::add_permits(face::key_target(*parts()), permits));
}

}  // namespace holdfast
