#include <holdfast/latch.hpp>

#include "face/counting.hpp"

namespace holdfast {

using detail::Counting;

const std::string& Latch::name() const noexcept { return parts_->target->name(); }

bool Latch::set(std::int64_t steps) const { return face::count(*parts_, Counting::set_latch, steps) == 1; }

std::int64_t Latch::count_down(std::int64_t steps) const { return face::count(*parts_, Counting::count_down, steps); }

std::int64_t Latch::count() const { return face::count(*parts_, Counting::count); }

bool Latch::remove() const { return face::count(*parts_, Counting::remove) == 1; }

void Latch::wait(std::stop_token stop) const { face::pass(*parts_, std::move(stop), {}); }

bool Latch::wait_within(std::chrono::milliseconds wait, std::stop_token stop) const {
  return face::pass_in_time(*parts_, wait, std::move(stop), {});
}

void Latch::arrive_and_wait(std::int64_t steps, std::stop_token stop) const {
  if (count_down(steps) > 0) wait(std::move(stop));
}

}  // namespace holdfast
