#include "timing/timer.hpp"

#include <utility>

namespace holdfast::timing {

Timer::Timer(const boost::asio::any_io_executor& executor) : timer_(executor) {}
Timer::Timer(const boost::asio::any_io_executor& executor, base::TimePoint time) : timer_(executor, time) {}
Timer::~Timer() = default;

void Timer::expires_at(base::TimePoint time) { timer_.expires_at(time); }
void Timer::expires_after(base::Duration time) { timer_.expires_after(time); }
base::TimePoint Timer::expiry() const { return timer_.expiry(); }
void Timer::async_wait(Handler handler) { timer_.async_wait(std::move(handler)); }
void Timer::cancel() { timer_.cancel(); }

}  // namespace holdfast::timing
