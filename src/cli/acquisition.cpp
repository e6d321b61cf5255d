#include "cli/acquisition.hpp"

#include <holdfast/error.hpp>

#include "base/clock.hpp"

namespace holdfast::cli {

Acquisition::Acquisition(BasicLock lock, AcquireOptions options, AskHolder ask) {
  options.stop = stop_.get_token();
  worker_ = std::jthread([this, lock = std::move(lock), options = std::move(options), ask = std::move(ask)] {
    work(lock, options, ask);
    done_.set();
  });
}

AcquisitionResult Acquisition::take() {
  worker_.join();
  return std::move(result_);
}

void Acquisition::work(BasicLock lock, const AcquireOptions& options, const AskHolder& ask) {
  if (ask.before) result_.holder = ask.ask();
  if (result_.holder) ask.before(*result_.holder);
  const base::TimePoint start = base::Clock::now();
  try {
    result_.hold = lock.acquire(options);
    result_.waited = base::Clock::now() - start;
  } catch (const Error& error) {
    result_.waited = base::Clock::now() - start;
    result_.failure = std::current_exception();
    const bool in_vain = error.code() == Errc::busy || error.code() == Errc::timed_out;
    if (ask.after && in_vain && !options.stop.stop_requested()) result_.holder = ask.ask();
  } catch (...) {
    result_.failure = std::current_exception();
  }
}

}  // namespace holdfast::cli
