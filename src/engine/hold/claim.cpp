#include "engine/hold/claim.hpp"

#include <new>
#include <thread>
#include <utility>

#include "engine/hold/acquirable.hpp"
#include "engine/hold/tenancy.hpp"
#include "engine/runtime/runtime.hpp"

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

namespace {

/// Calls `on_lost`.
class LossNotice final : public LossSignal::Watches {
 public:
  using Watches::Watches;

  static void post(std::unique_ptr<Watches> watches, std::shared_ptr<Claim> claim, LossReason reason) noexcept {
    auto& notice = static_cast<LossNotice&>(*watches.release());
    Notifier& notifier = claim->runtime()->notifier();
    notice.claim_ = std::move(claim);
    notice.reason_ = reason;
    notifier.post(notice);
  }

 private:
  void run() override {
    const std::unique_ptr<LossNotice> self(this);
    std::optional<LostEvent> event;
    while (!event) {
      try {
        event = LostEvent{claim_->target()->name(), claim_->tenancy().owner().text, reason_};
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(milliseconds(10));  // it must be told
      }
    }
    on_lost(*event);
  }
  void drop() noexcept override { const std::unique_ptr<LossNotice> self(this); }

  std::shared_ptr<Claim> claim_;
  LossReason reason_{};
};

}  // namespace

Claim::Claim(Which which, const LossSignal::LostCallback& on_lost)
    : signal_(on_lost ? std::make_unique<LossNotice>(on_lost) : nullptr), which_(which) {}

const std::shared_ptr<Runtime>& Claim::runtime() const { return tenancy().runtime(); }
const std::shared_ptr<Acquirable>& Claim::target() const { return tenancy().target(); }

HoldState Claim::state() {
  if (runtime()->in_child()) return HoldState::lost;
  valid_for();
  const base::Guard guard(tenancy().mutex_);
  return parted_ ? HoldState::released : tenancy().fsm_.state();
}

std::optional<LossReason> Claim::loss_reason() {
  if (runtime()->in_child()) return LossReason::forked;
  valid_for();
  const base::Guard guard(tenancy().mutex_);
  return !parted_ && tenancy().fsm_.was_lost() ? std::optional(tenancy().fsm_.reason()) : std::nullopt;
}

bool Claim::endless() const {
  const base::Guard guard(tenancy().mutex_);
  return tenancy().fsm_.endless();
}

bool Claim::stands() const {
  const base::Guard guard(tenancy().mutex_);
  return !parted_ && tenancy().fsm_.valid_for(base::Clock::now()) > Duration{};
}

Duration Claim::valid_for() {
  if (runtime()->in_child()) return {};
  HoldFsm::Todo todo{};
  LossReason reason{};
  HoldState state{};
  {
    const base::Guard guard(tenancy().mutex_);
    if (parted_) return {};
    // Callers count in milliseconds: less than one is zero, and then the claim is lost in every other respect too.
    constexpr Duration kTick = milliseconds(1);
    HoldFsm& fsm = tenancy().fsm_;
    const TimePoint now = base::Clock::now();
    if (const Duration left = fsm.valid_for(now); left >= kTick) return left;
    todo = fsm.on_time(now + kTick);
    reason = fsm.reason();
    state = fsm.state();
  }
  if (todo == HoldFsm::Todo::lost) tenancy().announce_loss(reason, Tenancy::StopIn::this_thread);
  // Another thread may have found it lost, and its signal is still on its way: whoever sees zero must see the signal.
  if (state == HoldState::lost) request_stop();
  return {};
}

Duration Claim::durable_for() {
  if (valid_for() <= Duration{}) return {};
  const std::uint32_t era = target()->acks_era();
  const base::Guard guard(tenancy().mutex_);
  return parted_ ? Duration{} : tenancy().fsm_.durable_for(base::Clock::now(), era);
}

std::stop_token Claim::stop_token() {
  valid_for();
  const base::Guard guard(tenancy().mutex_);
  return signal_.token(!parted_ && tenancy().fsm_.was_lost());
}

void Claim::request_stop() noexcept {
  std::stop_source source(std::nostopstate);
  {
    const base::Guard guard(tenancy().mutex_);
    source = signal_.source();
  }
  source.request_stop();  // without the mutex: it runs callbacks
}

std::uint64_t Claim::watch(LossSignal::EndCallback on_end) {
  std::optional<LossReason> lost;
  {
    const base::Guard guard(tenancy().mutex_);
    if (!parted_ && !tenancy().fsm_.ended()) {
      LossSignal::WatchesPtr& watches = signal_.watches();
      if (!watches) watches = std::make_unique<LossNotice>();
      return watches->add(std::move(on_end));
    }
    if (!parted_ && tenancy().fsm_.was_lost()) lost = tenancy().fsm_.reason();
  }
  on_end(lost);
  return 0;
}

void Claim::unwatch(std::uint64_t watching) {
  LossSignal::EndCallback last;  // destroyed without the mutex
  const base::Guard guard(tenancy().mutex_);
  last = signal_.unwatch(watching);
}

void Claim::tell_end(std::optional<LossReason> lost) noexcept {
  LossSignal::WatchesPtr watches;
  {
    const base::Guard guard(tenancy().mutex_);
    if (!lost && !parted_ && tenancy().fsm_.was_lost()) return;  // whoever has found that tells them
    watches = signal_.take_watches();
  }
  if (!watches) return;
  watches->tell(lost);
  if (lost && watches->on_lost) LossNotice::post(std::move(watches), self(), *lost);
}

ReleaseOutcome Claim::known_outcome() const {
  const base::Guard guard(tenancy().mutex_);
  if (!parted_) return tenancy().outcome_;
  return left_ ? ReleaseOutcome::left : ReleaseOutcome::released;
}

// ---- its end by its holder: hold_release.cpp decides when ----

void Claim::measure_end(TimePoint now) const noexcept {
  runtime()->reporter().meter.on_hold_end(target()->lock_class(), now - granted_at());
}

std::optional<HoldFsm::Extension> Claim::begin_share() {
  const base::Guard guard(tenancy().mutex_);
  const TimePoint now = base::Clock::now();
  if (released_ || tenancy().fsm_.valid_for(now) <= Duration{}) return std::nullopt;
  tenancy().being_shared_.store(true, std::memory_order_relaxed);
  return tenancy().fsm_.begin_extension(now, tenancy().fsm_.lease());
}

Claim::Release Claim::begin_release(Ending& ending, milliseconds rest) noexcept {
  TimePoint now{};
  LossReason reason{};
  bool found_lost = false;
  {
    const base::Guard guard(tenancy().mutex_);
    if (released_) return Release::ended;
    released_ = true;
    HoldFsm& fsm = tenancy().fsm_;
    now = base::Clock::now();
    const bool had_ended = fsm.ended();
    found_lost = !had_ended && fsm.on_time(now) == HoldFsm::Todo::lost;
    const bool stood = !had_ended && !found_lost;
    if (stood) tenancy().unlink(*this);
    if (stood && tenancy().has_claims()) {
      parted_ = true;
      left_ = rest > milliseconds{};
      if (left_) tenancy().rest_until_ = std::max(tenancy().rest_until_, now + rest);
    } else if (!fsm.begin_release()) {
      return Release::ended;
    }
    ending = tenancy().ending(now, stood);
    ending.since = granted_at();
    reason = fsm.reason();
  }
  if (found_lost) tenancy().announce_loss(reason, Tenancy::StopIn::signal_thread);
  if (ending.stood) measure_end(now);
  tell_end({});
  return parted_ ? Release::left : Release::last;
}

bool Claim::leave_to_others(TimePoint now) noexcept {
  const base::Guard guard(tenancy().mutex_);
  if (released_ || !open_ || tenancy().fsm_.ended() || tenancy().fsm_.valid_for(now) <= Duration{}) return false;
  if (!tenancy().has_claims_beside(*this)) return false;
  tenancy().unlink(*this);
  released_ = parted_ = true;
  return true;
}

bool Claim::begin_pass_on(TimePoint now) {
  const base::Guard guard(tenancy().mutex_);
  if (released_ || !open_ || tenancy().has_claims_beside(*this) || !tenancy().fsm_.may_be_passed_on(now)) return false;
  if (tenancy().is_being_shared()) return false;  // whoever got it might share it
  tenancy().unlink(*this);
  tenancy().fsm_.set_cap(now, {});  // it was this claim's
  released_ = parted_ = true;
  return true;
}

}  // namespace holdfast::engine
