#include "engine/runtime/rounds.hpp"

#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

Rounds::Rounds(Runtime& runtime) : runtime_(runtime), timer_(runtime.loop().executor()) {}

void Rounds::limit(Round& round, TimePoint limit) {
  const std::shared_ptr<Round> keep = round.shared_from_this();
  take_out(round);
  if (closed_) return round.on_limit();
  round.place_ = by_limit_.emplace(limit, keep);
  round.under_way_ = true;
  set_timer();
}

void Rounds::end(Round& round) {
  const std::shared_ptr<Round> keep = round.shared_from_this();
  take_out(round);
}

void Rounds::take_out(Round& round) {
  if (std::exchange(round.under_way_, false)) by_limit_.erase(round.place_);
}

/// A timer that fires too early, for a round that has ended, is cheaper than one that moves with every round.
void Rounds::set_timer() noexcept {
  if (by_limit_.empty() || by_limit_.begin()->first >= timer_at_) return;
  timer_at_ = by_limit_.begin()->first;
  try {
    timer_.expires_at(timer_at_);
    timer_.async_wait([this, keep = runtime_.keep_alive()](boost::system::error_code error) {
      if (!error) on_timer();
    });
  } catch (...) {
    timer_at_ = TimePoint::max();
    end_all();  // out of memory: nothing would end them later
  }
}

void Rounds::on_timer() noexcept {
  timer_at_ = TimePoint::max();
  const TimePoint now = base::Clock::now();
  while (!by_limit_.empty() && by_limit_.begin()->first <= now) end_first();
  set_timer();
}

void Rounds::close() {
  closed_ = true;
  timer_.cancel();
  end_all();
}

void Rounds::end_all() noexcept {
  while (!by_limit_.empty()) end_first();
}

void Rounds::end_first() noexcept {
  const std::shared_ptr<Round> round = by_limit_.begin()->second;
  take_out(*round);
  try {
    round->on_limit();
  } catch (...) {
    // Out of memory: whoever waits for it hears that it was destroyed without a word.
  }
}

void Rounds::drop_all() {
  closed_ = true;
  for (auto& [limit, round] : std::exchange(by_limit_, {})) round->under_way_ = false;
}

}  // namespace holdfast::engine
