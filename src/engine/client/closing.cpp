#include "engine/client/closing.hpp"

#include <algorithm>

namespace holdfast::engine {
namespace {

constexpr milliseconds kUndoLimit{100};
/// How often it restarts when there is no memory.
constexpr int kMostTries = 100;

}  // namespace

Closing::Closing(std::shared_ptr<Core> core)
    : core_(std::move(core)),
      attended_(core_->runtime().loop()),
      alarm_(core_->runtime().loop().schedule(), [this] { look_.run_or_again(); }) {}

void Closing::start() { take(begin_); }

void Closing::take(Step& step) noexcept {
  core_->runtime().loop().post(std::shared_ptr<Loop::Task>(shared_from_this(), &step));
}

/// Repeats a step; parts that are already done have no effect the second time.
void Closing::again(Step& step) noexcept {
  if (++tries_ < kMostTries) return take(step);
  try {
    finish();
  } catch (...) {
    // Callers waiting for it have a limit.
  }
}

void Closing::begin() {
  open_ = core_->targets().all(Targets::Which::own);
  for (const std::shared_ptr<Target>& target : open_) target->end_waits();
  end_ = base::Clock::now() + core_->runtime().config().release_timeout;
  watch();
  end_holds();
}

/// An undo seen here has already been sent, and nobody waits for its outcome.
void Closing::watch() { alarm_.set(std::min(end_, base::Clock::now() + kUndoLimit), shared_from_this()); }

void Closing::look() {
  Runtime& runtime = core_->runtime();
  if (base::Clock::now() >= end_ || runtime.pending().count() <= runtime.undos().count()) return finish();
  watch();
}

/// Runs twice: a grant that still arrives is released, and one that arrived while the holds were being ended is found
/// by the second run; there can be none after that.
void Closing::end_holds() {
  core_->end_holds();
  core_->runtime().pending().when_none([self = shared_from_this()] { self->take(self->none_left_); });
}

void Closing::on_none_left() {
  if (over_) return;
  if (!ended_twice_) {
    end_holds();
    ended_twice_ = true;
    return;
  }
  alarm_.cancel();
  finish();
}

void Closing::finish() {
  if (std::exchange(over_, true)) return;
  try {
    end_all();
  } catch (...) {
    over_ = false;
    throw;
  }
}

void Closing::end_all() {
  core_->runtime().pending().when_none({});
  for (const std::shared_ptr<Target>& target : open_) target->threads().forget_all();
  core_->targets_->let_go();
  core_->watchdog_.stop();
  core_->late_releases_.stop();
  core_->runtime().stop_work();
  core_->on_closed();
}

}  // namespace holdfast::engine
