#include "cli/acquisition.hpp"

#include <algorithm>
#include <chrono>

#include <holdfast/error.hpp>

#include "base/clock.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// How long the question who has the lock may take, before and after the wait. Before, it is part of the wait, and at
/// most half of it.
constexpr milliseconds kAskBefore{1000};
constexpr milliseconds kAskAfter{300};

}  // namespace

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

void Acquisition::work(BasicLock lock, AcquireOptions options, const AskHolder& ask) {
  const base::TimePoint start = base::Clock::now();
  bool answers = true;
  try {
    if (ask.before && options.wait != milliseconds::zero()) {
      const auto holders = ask.ask(std::min(kAskBefore, options.wait.value_or(milliseconds::max()) / 2));
      answers = holders.has_value();
      if (answers && !holders->empty()) {
        result_.holder = holders->front();
        ask.before(*holders);
      }
      const auto gone = std::chrono::duration_cast<milliseconds>(base::Clock::now() - start);
      if (options.wait) options.wait = std::max(milliseconds(1), *options.wait - gone);
    }
    result_.hold = lock.acquire(options);
    result_.waited = base::Clock::now() - start;
  } catch (const Error& error) {
    result_.waited = base::Clock::now() - start;
    result_.failure = std::current_exception();
    const bool in_vain = error.code() == Errc::busy || error.code() == Errc::timed_out;
    if (ask.after && in_vain && answers && !options.stop.stop_requested()) {
      const auto holders = ask.ask(kAskAfter);
      if (holders && !holders->empty()) result_.holder = holders->front();
    }
  } catch (...) {
    result_.failure = std::current_exception();
  }
}

}  // namespace holdfast::cli
