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
  std::stop_source source{std::nostopstate};  // once somebody has asked for a token
  WatchesPtr watches;

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

LossSignal::LossSignal(const LostCallback& on_lost) {
  if (on_lost) made().watches.reset(new Watches(on_lost));
}

LossSignal::Stop& LossSignal::made() {
  if (!stop_) stop_.reset(new Stop());
  return *stop_;
}

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

std::uint64_t LossSignal::watch(EndCallback on_end) {
  WatchesPtr& watches = made().watches;
  if (!watches) watches.reset(new Watches());
  const std::uint64_t watching = watches->ends.empty() ? 1 : watches->ends.rbegin()->first + 1;
  watches->ends.emplace(watching, std::move(on_end));
  return watching;
}

LossSignal::EndCallback LossSignal::unwatch(std::uint64_t watching) {
  EndCallback last;
  if (!stop_ || !stop_->watches) return last;
  std::map<std::uint64_t, EndCallback>& ends = stop_->watches->ends;
  if (const auto found = ends.find(watching); found != ends.end()) {
    last.swap(found->second);
    ends.erase(found);
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
