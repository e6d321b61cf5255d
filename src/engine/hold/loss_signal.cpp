#include "engine/hold/loss_signal.hpp"

#include <new>
#include <thread>

#include "engine/hold/claim.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

/// Belongs to the notifier once it is posted.
class LossSignal::Watches final : public Notifier::Notice {
 public:
  explicit Watches(LostCallback callback = {}) : on_lost(std::move(callback)) {}

  static void post(WatchesPtr watches, std::shared_ptr<Claim> hold, LossReason reason) noexcept {
    watches->hold_ = std::move(hold);
    watches->reason_ = reason;
    Notifier& notifier = watches->hold_->runtime()->notifier();
    notifier.post(*watches.release());
  }

  LostCallback on_lost;
  std::map<std::uint64_t, EndCallback> ends;

 private:
  void run() override {
    const std::unique_ptr<Watches> self(this);
    std::optional<LostEvent> event;
    while (!event) {
      try {
        event = LostEvent{hold_->name(), hold_->owner().text, reason_};
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(milliseconds(10));  // it must be told
      }
    }
    on_lost(*event);
  }
  void drop() noexcept override { const std::unique_ptr<Watches> self(this); }

  std::shared_ptr<Claim> hold_;
  LossReason reason_{};
};

class LossSignal::Stop final : public Notifier::Notice {
 public:
  std::stop_source source;

  void post(std::shared_ptr<Claim> hold) noexcept {
    hold_ = std::move(hold);
    Notifier& signals = hold_->runtime()->signals();
    signals.post(*this);
  }

 private:
  void run() override {
    const std::shared_ptr<Claim> hold = std::move(hold_);
    source.request_stop();
  }
  void drop() noexcept override { const std::shared_ptr<Claim> hold = std::move(hold_); }

  std::shared_ptr<Claim> hold_;  // while it is posted
};

void LossSignal::Destroy::operator()(Watches* watches) const noexcept { delete watches; }
void LossSignal::Destroy::operator()(Stop* stop) const noexcept { delete stop; }

LossSignal::LossSignal(const LostCallback& on_lost) : watches_(on_lost ? new Watches(on_lost) : nullptr) {}

std::stop_token LossSignal::token(bool lost) {
  if (!stop_) {
    stop_.reset(new Stop());
    if (lost) stop_->source.request_stop();  // nobody can have a callback on it yet
  }
  return stop_->source.get_token();
}

std::stop_source LossSignal::source() const { return stop_ ? stop_->source : std::stop_source(std::nostopstate); }

std::uint64_t LossSignal::watch(EndCallback on_end) {
  if (!watches_) watches_.reset(new Watches());
  const std::uint64_t watching = watches_->ends.empty() ? 1 : watches_->ends.rbegin()->first + 1;
  watches_->ends.emplace(watching, std::move(on_end));
  return watching;
}

LossSignal::EndCallback LossSignal::unwatch(std::uint64_t watching) {
  EndCallback last;
  if (!watches_) return last;
  if (const auto found = watches_->ends.find(watching); found != watches_->ends.end()) {
    last.swap(found->second);
    watches_->ends.erase(found);
  }
  return last;
}

void LossSignal::post(Stop& stop, std::shared_ptr<Claim> hold) noexcept { stop.post(std::move(hold)); }

void LossSignal::tell(WatchesPtr watches, std::shared_ptr<Claim> hold, std::optional<LossReason> lost) noexcept {
  if (!watches) return;
  for (const auto& [watching, on_end] : watches->ends) {
    try {
      on_end(lost);
    } catch (...) {
      // Out of memory: this one does not hear of it, all others do.
    }
  }
  if (lost && watches->on_lost) Watches::post(std::move(watches), std::move(hold), *lost);
}

}  // namespace holdfast::engine
