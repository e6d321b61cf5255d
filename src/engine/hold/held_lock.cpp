#include "engine/hold/held_lock.hpp"

#include <charconv>
#include <new>
#include <thread>

#include "engine/client/core.hpp"
#include "engine/hold/target.hpp"

namespace holdfast::engine {

namespace {

/// Of an owner of ours: `<client id>:<number>`.
std::uint64_t number_of(const wire::Owner& owner) {
  const char* const end = owner.text.data() + owner.text.size();
  std::uint64_t number = 0;
  std::from_chars(owner.text.data() + owner.text.rfind(':') + 1, end, number);
  return number;
}

}  // namespace

/// Tells those who asked, and `on_lost` on the notifier's thread.
class HeldLock::Watches final : public Notifier::Notice {
 public:
  explicit Watches(LostCallback callback = {}) : on_lost(std::move(callback)) {}

  /// Belongs to the notifier from here on.
  static void post(std::unique_ptr<Watches> watches, std::shared_ptr<HeldLock> hold, LossReason reason) noexcept {
    watches->hold_ = std::move(hold);
    watches->reason_ = reason;
    Notifier& notifier = watches->hold_->core()->notifier();
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

  std::shared_ptr<HeldLock> hold_;
  LossReason reason_{};
};

/// Stops the tokens, on the signals' thread if need be.
class HeldLock::StopSignal final : public Notifier::Notice {
 public:
  std::stop_source source;

  void post(std::shared_ptr<HeldLock> hold) noexcept {
    hold_ = std::move(hold);
    Notifier& signals = hold_->core()->signals();
    signals.post(*this);
  }

 private:
  void run() override {
    const std::shared_ptr<HeldLock> hold = std::move(hold_);
    source.request_stop();
  }
  void drop() noexcept override { const std::shared_ptr<HeldLock> hold = std::move(hold_); }

  std::shared_ptr<HeldLock> hold_;  // while it is posted
};

HeldLock::HeldLock(std::shared_ptr<Core> core, std::shared_ptr<Target> target, const wire::Owner& owner,
                   TimePoint sent_at, const LeaseTerms& terms, const LostCallback& on_lost, TimePoint granted_at)
    : core_(std::move(core)),
      target_(std::move(target)),
      owner_number_(number_of(owner)),
      fsm_(sent_at, terms, granted_at),
      watches_(on_lost ? std::make_unique<Watches>(on_lost) : nullptr) {}

HeldLock::~HeldLock() {
  if (core_ && core_->in_child()) return;  // whoever held a mutex in the parent holds it for ever in the child
  target_->clear_holder(this);
}

wire::Owner HeldLock::owner() const { return core_->owner(owner_number_); }

const std::string& HeldLock::name() const { return target_->name(); }

HoldState HeldLock::state() {
  if (core_->in_child()) return HoldState::lost;
  valid_for();
  const base::Guard guard(mutex_);
  return fsm_.state();
}

std::optional<LossReason> HeldLock::loss_reason() {
  if (core_->in_child()) return LossReason::forked;
  valid_for();
  const base::Guard guard(mutex_);
  if (!fsm_.was_lost()) return std::nullopt;
  return fsm_.reason();
}

bool HeldLock::stands() const {
  const base::Guard guard(mutex_);
  return fsm_.valid_for(base::Clock::now()) > Duration{};
}

TimePoint HeldLock::extended_at() const {
  const base::Guard guard(mutex_);
  return fsm_.last_extension();
}

bool HeldLock::ended() const {
  const base::Guard guard(mutex_);
  return fsm_.ended();
}

Duration HeldLock::valid_for() {
  if (core_->in_child()) return {};
  HoldFsm::Todo todo{};
  LossReason reason{};
  HoldState state{};
  {
    const base::Guard guard(mutex_);
    // Callers count in milliseconds: less than one is nothing, and then the hold is lost in every other respect too.
    constexpr Duration kTick = milliseconds(1);
    const TimePoint now = base::Clock::now();
    const Duration left = fsm_.valid_for(now);
    if (left >= kTick) return left;
    todo = fsm_.on_time(now + kTick);
    reason = fsm_.reason();
    state = fsm_.state();
  }
  if (todo == HoldFsm::Todo::lost) announce_loss(reason, StopIn::this_thread);
  // Found lost by another thread, whose signal may still be on its way: whoever sees zero must see the signal too.
  if (state == HoldState::lost) request_stop();
  return {};
}

std::stop_token HeldLock::stop_token() {
  valid_for();
  const base::Guard guard(mutex_);
  if (!stop_) {
    stop_ = std::make_unique<StopSignal>();
    if (fsm_.was_lost()) stop_->source.request_stop();  // nobody can have a callback on it yet
  }
  return stop_->source.get_token();
}

void HeldLock::request_stop() noexcept {
  std::stop_source source(std::nostopstate);
  {
    const base::Guard guard(mutex_);
    if (stop_) source = stop_->source;
  }
  source.request_stop();  // without the mutex: it runs callbacks
}

void HeldLock::announce_loss(LossReason reason, StopIn where) noexcept {
  target_->clear_holder(this);
  Reporter& reporter = core_->reporter();
  Reporter::add(reporter.count.lost);
  if (where == StopIn::this_thread) {
    request_stop();
  } else {
    StopSignal* signal = nullptr;
    {
      const base::Guard guard(mutex_);
      signal = stop_.get();  // without one nobody has a token; whoever asks for one later finds it lost
    }
    if (signal != nullptr) signal->post(shared_from_this());
  }
  tell_watches(reason);
  reporter.tell(&Observer::on_lost, [&] { return LostEvent{target_->name(), owner().text, reason}; });
}

bool HeldLock::expire(TimePoint now) {
  const base::Guard guard(mutex_);
  return now >= fsm_.deadline() && fsm_.on_time(now) == HoldFsm::Todo::lost;
}

void HeldLock::announce_expired() noexcept {
  LossReason reason{};
  {
    const base::Guard guard(mutex_);
    reason = fsm_.reason();
  }
  announce_loss(reason, StopIn::signal_thread);
}

void HeldLock::apply(HoldFsm::Change change, const std::string& cause) {
  if (change == HoldFsm::Change::none) return;
  LossReason reason{};
  Duration left{};
  {
    const base::Guard guard(mutex_);
    reason = fsm_.reason();
    left = fsm_.valid_for(base::Clock::now());
  }
  if (change == HoldFsm::Change::lost) {
    announce_loss(reason, StopIn::signal_thread);
    return;
  }
  Reporter::add(core_->reporter().count.suspect);
  core_->reporter().tell(&Observer::on_suspect,
                         [&] { return SuspectEvent{target_->name(), owner().text, cause, left}; });
}

HoldFsm::Todo HeldLock::on_time(TimePoint now, Duration early) {
  HoldFsm::Todo todo{};
  LossReason reason{};
  {
    const base::Guard guard(mutex_);
    todo = fsm_.on_time(now, early);
    reason = fsm_.reason();
  }
  if (todo == HoldFsm::Todo::lost) announce_loss(reason, StopIn::signal_thread);
  return todo;
}

void HeldLock::on_renewed(TimePoint sent_at, TimePoint now) {
  HoldFsm::Change change{};
  {
    const base::Guard guard(mutex_);
    change = fsm_.on_renewed(sent_at, now);
  }
  apply(change);
}

void HeldLock::on_gone() {
  HoldFsm::Change change{};
  {
    const base::Guard guard(mutex_);
    change = fsm_.on_gone();
  }
  apply(change);
}

void HeldLock::on_unanswered(TimePoint now, const std::string& cause) {
  HoldFsm::Change change{};
  {
    const base::Guard guard(mutex_);
    change = fsm_.on_unanswered(now);
  }
  apply(change, cause);
}

void HeldLock::on_reconnect(TimePoint now) {
  const base::Guard guard(mutex_);
  fsm_.on_reconnect(now);
}

void HeldLock::on_closed() {
  HoldFsm::Change change{};
  {
    const base::Guard guard(mutex_);
    change = fsm_.on_closed();
  }
  apply(change);
}

TimePoint HeldLock::due() const {
  const base::Guard guard(mutex_);
  return fsm_.due();
}

Duration HeldLock::lateness(TimePoint now) const {
  const base::Guard guard(mutex_);
  return fsm_.lateness(now);
}

std::uint64_t HeldLock::watch(EndCallback told) {
  std::optional<LossReason> lost;
  {
    const base::Guard guard(mutex_);
    if (!fsm_.ended()) {
      if (!watches_) watches_ = std::make_unique<Watches>();
      const std::uint64_t watching = watches_->ends.empty() ? 1 : watches_->ends.rbegin()->first + 1;
      watches_->ends.emplace(watching, std::move(told));
      return watching;
    }
    if (fsm_.was_lost()) lost = fsm_.reason();
  }
  told(lost);
  return 0;
}

void HeldLock::unwatch(std::uint64_t watching) {
  EndCallback last;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  if (!watches_) return;
  if (const auto found = watches_->ends.find(watching); found != watches_->ends.end()) {
    last.swap(found->second);
    watches_->ends.erase(found);
  }
}

void HeldLock::drop_watches() {
  std::unique_ptr<Watches> watches;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  watches.swap(watches_);
}

void HeldLock::tell_watches(std::optional<LossReason> lost) noexcept {
  std::unique_ptr<Watches> watches;
  {
    const base::Guard guard(mutex_);
    if (!lost && fsm_.was_lost()) return;  // it was; whoever found it tells
    watches.swap(watches_);
  }
  if (!watches) return;
  for (const auto& [watching, told] : watches->ends) {
    try {
      told(lost);
    } catch (...) {
      // Out of memory: this one does not hear of it, all others do.
    }
  }
  if (lost && watches->on_lost) Watches::post(std::move(watches), shared_from_this(), *lost);
}

}  // namespace holdfast::engine
