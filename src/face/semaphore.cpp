#include <holdfast/error.hpp>
#include <holdfast/semaphore.hpp>

#include "face/counting.hpp"
#include "face/outcome.hpp"

namespace holdfast {

using detail::Counting;

const std::string& Semaphore::name() const noexcept { return parts_->target->name(); }

void Semaphore::acquire(std::uint32_t permits, std::stop_token stop) const {
  face::pass(*parts_, std::move(stop), face::permits_of(*parts_, permits));
}

bool Semaphore::try_acquire(std::uint32_t permits) const {
  return face::pass_in_time(*parts_, {}, {}, face::permits_of(*parts_, permits));
}

bool Semaphore::acquire_within(std::chrono::milliseconds wait, std::uint32_t permits, std::stop_token stop) const {
  return face::pass_in_time(*parts_, wait, std::move(stop), face::permits_of(*parts_, permits));
}

bool Semaphore::release(std::int64_t permits) const {
  return face::pass_on(*parts_, permits) || face::count(*parts_, Counting::release, permits) == 1;
}

bool Semaphore::set(std::int64_t permits) const { return face::count(*parts_, Counting::set, permits) == 1; }

bool Semaphore::set(std::int64_t permits, std::chrono::milliseconds lives) const {
  if (lives.count() <= 0 || lives > engine::kLongestLease) {
    throw face::error_about(
        *parts_->target, Errc::invalid_argument,
        "a time to live of " + std::to_string(lives.count()) + " ms; it must be above 0, up to 10 years");
  }
  return face::count(*parts_, Counting::set, permits, lives) == 1;
}

std::int64_t Semaphore::add(std::int64_t permits) const { return face::count(*parts_, Counting::add, permits); }
std::int64_t Semaphore::drain() const { return face::count(*parts_, Counting::drain); }
std::int64_t Semaphore::available() const { return face::count(*parts_, Counting::available); }

}  // namespace holdfast
