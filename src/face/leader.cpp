// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include <holdfast/detail/leading.hpp>
#include <holdfast/error.hpp>
#include <holdfast/leader.hpp>

namespace holdfast {
namespace {

using std::chrono::milliseconds;

/// Ends early once it is stopped.
void pause(milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock guard(mutex);
  stopped.wait_for(guard, stop, time, [] { return false; });
}

}  // namespace

const char* to_string(TermEnd end) noexcept {
  switch (end) {
    case TermEnd::finished:
      return "finished";
    case TermEnd::stepped_down:
      return "stepped_down";
    case TermEnd::lost:
      return "lost";
  }
  return "?";
}

Leader::Leader(FencedLock lock) : lock_(std::move(lock)), desk_(std::make_shared<Desk>()) {}

/// The body always returns, or throws, before the lock is released: nothing may come in between.
TermEnd Leader::serve(const Body& body, Hold hold, const std::stop_token& stop) {
  bool asked = false;
  try {
    const Office office(*desk_, hold, stop);
    body(Term(hold, office.stop(), hold.token().value()));
    asked = office.stop().stop_requested();
  } catch (...) {
    hold.release();
    throw;
  }
  hold.release();
  if (hold.is_lost()) return TermEnd::lost;
  return asked ? TermEnd::stepped_down : TermEnd::finished;
}

TermEnd Leader::lead(const Body& body, const AcquireOptions& options) {
  const Call call(*this);
  return serve(body, lock_.acquire(options), options.stop);
}

void Leader::campaign(const Body& body, const CampaignOptions& options) {
  const Call call(*this);
  while (!options.stop.stop_requested()) {
    Hold hold;
    try {
      hold = lock_.acquire({.wait = milliseconds::max(), .stop = options.stop});
    } catch (const Error& error) {
      if (options.stop.stop_requested()) return;
      if (!detail::goes_on(error)) throw;
      if (options.on_trouble) options.on_trouble(error);
      pause(detail::kCampaignPause, options.stop);
      continue;
    }
    if (serve(body, std::move(hold), options.stop) != TermEnd::lost) pause(options.rest, options.stop);
  }
}

void Leader::step_down() noexcept {
  std::stop_source ending(std::nostopstate);
  {
    const std::lock_guard guard(desk_->mutex);
    ending = desk_->ending;
  }
  ending.request_stop();  // runs the body's own callbacks
}

bool Leader::leads() const noexcept {
  const std::lock_guard guard(desk_->mutex);
  return desk_->hold != nullptr && desk_->hold->valid_for() > milliseconds::zero();
}

}  // namespace holdfast
