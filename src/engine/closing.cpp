#include "engine/closing.hpp"

namespace holdfast::engine {

Closing::Closing(std::shared_ptr<Core> core)
    : core_(std::move(core)), attended_(core_->loop()), limit_(core_->loop().executor()) {}

void Closing::start() {
  core_->loop().defer([self = shared_from_this()] {
    self->open_ = self->core_->targets();
    for (const std::shared_ptr<Target>& target : self->open_) target->close();
    self->limit_.expires_after(self->core_->config().release_timeout);
    self->limit_.async_wait([self](boost::system::error_code error) {
      if (!error) self->finish();
    });
    self->end_holds();
  });
}

/// Twice: a grant that still comes is given back, and one that came while the holds were being ended is found the
/// second time; nothing can follow that.
void Closing::end_holds() {
  core_->end_holds();
  core_->pending().when_none([self = shared_from_this(), round = ++round_] {
    self->core_->loop().defer([self, round] { self->on_none(round); });
  });
}

void Closing::on_none(int round) {
  if (round != round_) return;
  if (round == 1) return end_holds();
  limit_.cancel();
  finish();
}

void Closing::finish() {
  constexpr int kOver = 3;
  if (std::exchange(round_, kOver) == kOver) return;
  core_->pending().when_none({});
  for (const std::shared_ptr<Target>& target : open_) target->forget_threads();
  core_->watchdog_.stop();
  core_->lane_.close();
  for (Core::Timer* timer : core_->pauses_) timer->cancel();
  core_->on_closed();
}

}  // namespace holdfast::engine
