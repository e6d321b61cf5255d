#include "engine/hold/holding.hpp"

#include <charconv>

#include "engine/hold/target.hpp"
#include "engine/hold/watchdog.hpp"
#include "engine/runtime/runtime.hpp"

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

Holding::Holding(std::shared_ptr<Runtime> runtime, std::shared_ptr<Target> target, const wire::Owner& owner,
                 TimePoint sent_at, const LeaseTerms& terms, const LossSignal::LostCallback& on_lost,
                 TimePoint granted_at, std::unique_ptr<const wire::Grant> grant, std::uint32_t acked_era)
    : runtime_(std::move(runtime)),
      target_(std::move(target)),
      owner_number_(number_of(owner)),
      grant_(std::move(grant)),
      fsm_(sent_at, terms, granted_at, acked_era,
           runtime_->config().loss_notice ? HoldFsm::Watched::yes : HoldFsm::Watched::no),
      signal_(on_lost) {}

Holding::~Holding() {
  if (runtime_->in_child()) return;  // whoever held a mutex in the parent holds it for ever in the child
  target_->clear_holder(*this);
}

wire::Owner Holding::owner() const { return grant_ ? grant_->owner : runtime_->owner(owner_number_); }

const std::string& Holding::name() const { return target_->name(); }

HoldState Holding::state() {
  if (runtime_->in_child()) return HoldState::lost;
  valid_for();
  return ask(&HoldFsm::state);
}

std::optional<LossReason> Holding::loss_reason() {
  if (runtime_->in_child()) return LossReason::forked;
  valid_for();
  const base::Guard guard(mutex_);
  return fsm_.was_lost() ? std::optional(fsm_.reason()) : std::nullopt;
}

Duration Holding::valid_for() {
  if (runtime_->in_child()) return {};
  HoldFsm::Todo todo{};
  LossReason reason{};
  HoldState state{};
  {
    const base::Guard guard(mutex_);
    // Callers count in milliseconds: less than one is nothing, and then the hold is lost in every other respect too.
    constexpr Duration kTick = milliseconds(1);
    const TimePoint now = base::Clock::now();
    if (const Duration left = fsm_.valid_for(now); left >= kTick) return left;
    todo = fsm_.on_time(now + kTick);
    reason = fsm_.reason();
    state = fsm_.state();
  }
  if (todo == HoldFsm::Todo::lost) announce_loss(reason, StopIn::this_thread);
  // Found lost by another thread, whose signal may still be on its way: whoever sees zero must see the signal too.
  if (state == HoldState::lost) request_stop();
  return {};
}

Duration Holding::durable_for() {
  return valid_for() > Duration{} ? ask(&HoldFsm::durable_for, base::Clock::now(), target_->acks_era()) : Duration{};
}

std::stop_token Holding::stop_token() {
  valid_for();
  const base::Guard guard(mutex_);
  return signal_.token(fsm_.was_lost());
}

void Holding::request_stop() noexcept {
  std::stop_source source(std::nostopstate);
  {
    const base::Guard guard(mutex_);
    source = signal_.source();
  }
  source.request_stop();  // without the mutex: it runs callbacks
}

void Holding::announce_loss(LossReason reason, StopIn where) noexcept {
  target_->clear_holder(*this);
  Reporter& reporter = runtime_->reporter();
  Reporter::add(reporter.count.lost);
  if (where == StopIn::this_thread) {
    request_stop();
  } else {
    LossSignal::Stop* stop = nullptr;
    {
      const base::Guard guard(mutex_);
      stop = signal_.stop();
    }
    if (stop != nullptr) LossSignal::post(*stop, shared_from_this());
  }
  tell_end(reason);
  reporter.tell(&Observer::on_lost, [&] { return LostEvent{target_->name(), owner().text, reason}; });
}

bool Holding::expire(TimePoint now) {
  const base::Guard guard(mutex_);
  return now >= fsm_.deadline() && fsm_.on_time(now) == HoldFsm::Todo::lost;
}

void Holding::announce_expired() noexcept { announce_loss(ask(&HoldFsm::reason), StopIn::signal_thread); }

/// Changes what is known of it, and reports that without the mutex.
template <class... Args>
void Holding::change(const std::string& cause, HoldFsm::Change (HoldFsm::*decide)(Args...),
                     std::type_identity_t<Args>... args) {
  HoldFsm::Change change{};
  LossReason reason{};
  Duration left{};
  {
    const base::Guard guard(mutex_);
    change = (fsm_.*decide)(args...);
    reason = fsm_.reason();
    if (change == HoldFsm::Change::suspect) left = fsm_.valid_for(base::Clock::now());
  }
  if (change == HoldFsm::Change::lost) announce_loss(reason, StopIn::signal_thread);
  if (change != HoldFsm::Change::suspect) return;
  Reporter::add(runtime_->reporter().count.suspect);
  runtime_->reporter().tell(&Observer::on_suspect,
                            [&] { return SuspectEvent{target_->name(), owner().text, cause, left}; });
}

void Holding::on_renewed(TimePoint sent_at, TimePoint now, std::uint32_t acked_era) {
  change({}, &HoldFsm::on_renewed, sent_at, now, acked_era);
}
void Holding::on_gone() { change({}, &HoldFsm::on_gone); }
void Holding::on_unanswered(TimePoint now, const std::string& cause) { change(cause, &HoldFsm::on_unanswered, now); }
void Holding::on_moved(TimePoint now) { change("its slot is served by another server now", &HoldFsm::on_moved, now); }
void Holding::on_closed() { change({}, &HoldFsm::on_closed); }

HoldFsm::Todo Holding::on_time(TimePoint now, Duration early) {
  HoldFsm::Todo todo{};
  {
    const base::Guard guard(mutex_);
    todo = fsm_.on_time(now, early);
  }
  if (todo == HoldFsm::Todo::lost) announce_expired();
  return todo;
}

std::uint64_t Holding::watch(LossSignal::EndCallback on_end) {
  std::optional<LossReason> lost;
  {
    const base::Guard guard(mutex_);
    if (!fsm_.ended()) return signal_.watch(std::move(on_end));
    if (fsm_.was_lost()) lost = fsm_.reason();
  }
  on_end(lost);
  return 0;
}

void Holding::unwatch(std::uint64_t watching) {
  LossSignal::EndCallback last;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  last = signal_.unwatch(watching);
}

void Holding::drop_watches() {
  LossSignal::WatchesPtr watches;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  watches = signal_.take_watches();
}

void Holding::tell_end(std::optional<LossReason> lost) noexcept {
  LossSignal::WatchesPtr watches;
  {
    const base::Guard guard(mutex_);
    if (!lost && fsm_.was_lost()) return;  // it was; whoever found it tells
    watches = signal_.take_watches();
  }
  if (watches) LossSignal::tell(std::move(watches), shared_from_this(), lost);
}

// ---- its end by its holder's hand: hold_release.cpp decides when ----

std::optional<Holding::Ending> Holding::begin_release() noexcept {
  Ending ending;
  LossReason reason{};
  bool found_lost = false;
  {
    const base::Guard guard(mutex_);
    const TimePoint now = base::Clock::now();
    const bool ended = fsm_.ended();
    found_lost = !ended && fsm_.on_time(now) == HoldFsm::Todo::lost;
    if (!fsm_.begin_release()) return std::nullopt;
    ending = {fsm_.deadline(), fsm_.last_extension(), gone_by(now, lease()), !ended && !found_lost};
    reason = fsm_.reason();
  }
  if (found_lost) announce_loss(reason, StopIn::signal_thread);
  tell_end({});
  target_->watchdog().disarm(*this);
  if (ending.stood) target_->begin_release();
  return ending;
}

void Holding::set_outcome(ReleaseOutcome outcome) {
  const base::Guard guard(mutex_);
  outcome_ = outcome;
  if (outcome == ReleaseOutcome::was_lost) fsm_.on_release_found_none(base::Clock::now());
}

std::optional<HoldFsm> Holding::end_to_pass_on(TimePoint now) {
  const base::Guard guard(mutex_);
  if (!fsm_.renewed() || fsm_.state() != HoldState::held || fsm_.valid_for(now) < Duration(lease()) / 2) return {};
  fsm_.begin_release();
  outcome_ = ReleaseOutcome::released;
  return fsm_;
}

ReleaseOutcome Holding::known_outcome() const {
  const base::Guard guard(mutex_);
  return outcome_;
}

}  // namespace holdfast::engine
