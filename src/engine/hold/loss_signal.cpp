#include "engine/hold/loss_signal.hpp"

#include <utility>

namespace holdfast::engine {

class LossSignal::Stop final : public Notifier::Notice {
 public:
  std::stop_source source{std::nostopstate};  // once somebody has asked for a token
  WatchesPtr watches;
  std::shared_ptr<void> hold;  // while it is posted

 private:
  void run() override {
    const std::shared_ptr<void> last = std::move(hold);
    source.request_stop();
  }
  void drop() noexcept override { const std::shared_ptr<void> last = std::move(hold); }
};

void LossSignal::Destroy::operator()(Stop* stop) const noexcept { delete stop; }

void LossSignal::Watches::tell(std::optional<LossReason> lost) const noexcept {
  for (const auto& [watching, on_end] : ends_) {
    try {
      on_end(lost);
    } catch (...) {
      // Out of memory: this one does not hear of it, all others do.
    }
  }
}

std::uint64_t LossSignal::Watches::add(EndCallback on_end) {
  const std::uint64_t watching = ends_.empty() ? 1 : ends_.rbegin()->first + 1;
  ends_.emplace(watching, std::move(on_end));
  return watching;
}

LossSignal::EndCallback LossSignal::Watches::remove(std::uint64_t watching) {
  auto node = ends_.extract(watching);
  return node ? std::move(node.mapped()) : nullptr;
}

LossSignal::LossSignal(WatchesPtr first) {
  if (first) watches() = std::move(first);
}

LossSignal::Stop& LossSignal::made() {
  if (!stop_) stop_.reset(new Stop());
  return *stop_;
}

LossSignal::WatchesPtr& LossSignal::watches() { return made().watches; }

std::stop_token LossSignal::token(bool lost) {
  std::stop_source& source = made().source;
  if (!source.stop_possible()) {
    source = std::stop_source();
    if (lost) source.request_stop();  // nobody can have a callback on it yet
  }
  return source.get_token();
}

LossSignal::Stop* LossSignal::stop() const { return stop_ && stop_->source.stop_possible() ? stop_.get() : nullptr; }

LossSignal::WatchesPtr LossSignal::take_watches() { return stop_ ? std::move(stop_->watches) : nullptr; }

std::stop_source LossSignal::source() const { return stop_ ? stop_->source : std::stop_source(std::nostopstate); }

LossSignal::EndCallback LossSignal::unwatch(std::uint64_t watching) {
  return stop_ && stop_->watches ? stop_->watches->remove(watching) : nullptr;
}

void LossSignal::post(Stop& stop, Notifier& signals, std::shared_ptr<void> hold) noexcept {
  stop.hold = std::move(hold);
  signals.post(stop);
}

}  // namespace holdfast::engine
