#include "cli/acquisition.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/clock.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// How long the query for the holder may take, before and after the wait. Before, it is part of the wait, and at most
/// half of it.
constexpr milliseconds kAskBefore{1000};
constexpr milliseconds kAskAfter{300};

/// Between two attempts at a server that has never been reached.
constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{1000};

}  // namespace

Acquisition::Acquisition(const BasicLock& lock, AcquireOptions options, Prepare prepare, AskHolder ask,
                         Perseverance perseverance)
    : prepare_(std::move(prepare)), perseverance_(std::move(perseverance)) {
  options.stop = stop_.get_token();
  worker_ = std::jthread([this, lock, options = std::move(options), ask = std::move(ask)] {
    work(lock, options, ask);
    result_.waited = base::Clock::now() - start_;
    done_.set();
  });
}

AcquisitionResult Acquisition::take() {
  worker_.join();
  return std::move(result_);
}

void Acquisition::work(const BasicLock& lock, const AcquireOptions& options, const AskHolder& ask) {
  for (milliseconds time = kFirstPause; !try_once(lock, options, ask); time = std::min(2 * time, kLongestPause)) {
    pause(time);
  }
}

bool Acquisition::try_once(const BasicLock& lock, AcquireOptions options, const AskHolder& ask) {
  const auto limit_wait = [&, whole = options.wait] {
    const auto gone = std::chrono::duration_cast<milliseconds>(base::Clock::now() - start_);
    if (whole && *whole > milliseconds::zero()) options.wait = std::max(milliseconds(1), *whole - gone);
  };
  bool answers = true;
  try {
    if (ask.before && options.wait != milliseconds::zero()) {
      limit_wait();
      const auto holders = ask.ask(std::min(kAskBefore, options.wait.value_or(milliseconds::max()) / 2));
      answers = holders.has_value();
      if (answers && !holders->empty()) {
        result_.holder = holders->front();
        ask.before(*holders);
      }
    }
    // After the question, which may refuse to wait: then nothing has been changed.
    if (prepare_) {
      limit_wait();
      const bool has_limit = options.wait && *options.wait > milliseconds::zero();
      prepare_(has_limit ? *options.wait : perseverance_.patience, options.stop);
    }
    limit_wait();
    result_.hold = lock.acquire(options);
  } catch (const Error& error) {
    if (may_be_tried_again(error)) return false;
    result_.failure = std::current_exception();
    const bool in_vain = error.code() == Errc::busy || error.code() == Errc::timed_out;
    if (ask.after && in_vain && answers && !options.stop.stop_requested()) {
      const auto holders = ask.ask(kAskAfter);
      if (holders && !holders->empty()) result_.holder = holders->front();
    }
  } catch (...) {
    result_.failure = std::current_exception();
  }
  return true;
}

bool Acquisition::may_be_tried_again(const Error& error) {
  const bool in_vain = error.code() == Errc::busy || error.code() == Errc::timed_out;
  const auto left = std::chrono::ceil<milliseconds>(start_ + perseverance_.limit - base::Clock::now());
  if (in_vain || !error.may_pass() || left <= milliseconds::zero() || stop_.stop_requested() || perseverance_.reached())
    return false;
  if (!std::exchange(told_, true)) perseverance_.tell(error, left);
  return true;
}

/// Ends with the wait.
void Acquisition::pause(milliseconds time) const {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock guard(mutex);
  const auto left = std::chrono::ceil<milliseconds>(start_ + perseverance_.limit - base::Clock::now());
  stopped.wait_for(guard, stop_.get_token(), std::min(time, left), [] { return false; });
}

}  // namespace holdfast::cli
