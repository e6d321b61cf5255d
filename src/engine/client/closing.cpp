#include "engine/client/closing.hpp"

#include <algorithm>

namespace holdfast::engine {
namespace {

constexpr milliseconds kUndoLimit{100};

}  // namespace

Closing::Closing(std::shared_ptr<Core> core)
    : core_(std::move(core)), attended_(core_->runtime().loop()), timer_(core_->runtime().loop().executor()) {}

void Closing::start() {
  core_->runtime().loop().defer([self = shared_from_this()] {
    self->open_ = self->core_->targets().all(Targets::Which::own);
    for (const std::shared_ptr<Target>& target : self->open_) target->close();
    self->end_ = base::Clock::now() + self->core_->runtime().config().release_timeout;
    self->watch();
    self->end_holds();
  });
}

/// An undo is on its way by the time it is seen here, and nobody is to be told of its outcome.
void Closing::watch() {
  timer_.expires_at(std::min(end_, base::Clock::now() + kUndoLimit));
  timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (error) return;
    Runtime& runtime = self->core_->runtime();
    if (base::Clock::now() >= self->end_ || runtime.pending().count() <= runtime.undos().count()) return self->finish();
    self->watch();
  });
}

/// Twice: a grant that still comes is given back, and one that came while the holds were being ended is found the
/// second time; nothing can follow that.
void Closing::end_holds() {
  core_->end_holds();
  core_->runtime().pending().when_none([self = shared_from_this(), round = ++round_] {
    self->core_->runtime().loop().defer([self, round] { self->on_none(round); });
  });
}

void Closing::on_none(int round) {
  if (round != round_) return;
  if (round == 1) return end_holds();
  timer_.cancel();
  finish();
}

void Closing::finish() {
  constexpr int kOver = 3;
  if (std::exchange(round_, kOver) == kOver) return;
  core_->runtime().pending().when_none({});
  for (const std::shared_ptr<Target>& target : open_) target->threads().forget_all();
  core_->targets_->let_go();
  core_->watchdog_.stop();
  core_->late_releases_.stop();
  core_->runtime().stop_work();
  core_->on_closed();
}

}  // namespace holdfast::engine
