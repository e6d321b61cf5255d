// SPDX-License-Identifier: Apache-2.0
#include "lock/queue/tenancy.hpp"

#include <charconv>
#include <new>
#include <thread>
#include <utility>

#include "lock/runtime/runtime.hpp"

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

void LossSignal::Watches::post(WatchesPtr watches, std::shared_ptr<Claim> claim, const std::string& name,
                               LossReason reason) noexcept {
  if (!watches->on_lost_) return;
  Watches& notice = *watches.release();
  Notifier& notifier = claim->runtime()->notifier();
  notice.claim_ = std::move(claim);
  notice.name_ = &name;
  notice.reason_ = reason;
  notifier.post(notice);
}

void LossSignal::Watches::run() {
  const WatchesPtr self(this);
  std::optional<LostEvent> event;
  while (!event) {
    try {
      event = LostEvent{*name_, claim_->tenancy().owner().text, reason_};
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(milliseconds(10));  // it must be told
    }
  }
  on_lost_(*event);
}

void LossSignal::Watches::drop() noexcept { const WatchesPtr self(this); }

Claim::Claim(Which which, const LossSignal::LostCallback& on_lost)
    : signal_(on_lost ? std::make_unique<LossSignal::Watches>(on_lost) : nullptr), which_(which) {}

const std::shared_ptr<Runtime>& Claim::runtime() const { return tenancy().runtime(); }
const std::shared_ptr<Target>& Claim::target() const { return tenancy().target(); }

HoldState Claim::state() const {
  if (runtime()->in_child()) return HoldState::lost;
  const base::Guard guard(tenancy().mutex_);
  return parted_ ? HoldState::released : tenancy().fsm_.state();
}

std::optional<LossReason> Claim::loss_reason() const {
  if (runtime()->in_child()) return LossReason::forked;
  const base::Guard guard(tenancy().mutex_);
  return !parted_ && tenancy().fsm_.was_lost() ? std::optional(tenancy().fsm_.reason()) : std::nullopt;
}

bool Claim::endless() const {
  const base::Guard guard(tenancy().mutex_);
  return tenancy().fsm_.endless();
}

bool Claim::stands() const { return valid_for() > Duration{}; }

Duration Claim::valid_for() const {
  const base::Guard guard(tenancy().mutex_);
  return parted_ ? Duration{} : tenancy().fsm_.valid_for(base::Clock::now());
}

Claim::Look Claim::look() {
  if (runtime()->in_child()) return {};
  const base::Guard guard(tenancy().mutex_);
  if (parted_) return {};
  // Callers count in milliseconds: less than one is zero, and then the claim is lost in every other respect too.
  constexpr Duration kTick = milliseconds(1);
  HoldFsm& fsm = tenancy().fsm_;
  const TimePoint now = base::Clock::now();
  if (const Duration left = fsm.valid_for(now); left >= kTick) return {.left = left};
  const bool found_lost = fsm.on_time(now + kTick) == HoldFsm::Todo::lost;
  return {.lost = fsm.state() == HoldState::lost, .found_lost = found_lost};
}

Duration Claim::durable_for(std::uint32_t era) const {
  if (runtime()->in_child()) return {};
  const base::Guard guard(tenancy().mutex_);
  return parted_ ? Duration{} : tenancy().fsm_.durable_for(base::Clock::now(), era);
}

std::stop_token Claim::stop_token() {
  const base::Guard guard(tenancy().mutex_);
  return signal_.token(!parted_ && tenancy().fsm_.was_lost());
}

void Claim::stop(StopIn where) noexcept {
  LossSignal::Stop* posted = nullptr;
  std::stop_source source(std::nostopstate);
  {
    const base::Guard guard(tenancy().mutex_);
    if (where == StopIn::signal_thread) {
      posted = signal_.stop();
    } else {
      source = signal_.source();
    }
  }
  if (posted != nullptr) LossSignal::post(*posted, runtime()->signals(), self());
  source.request_stop();  // without the mutex: it runs callbacks
}

std::uint64_t Claim::watch(LossSignal::EndCallback on_end) {
  std::optional<LossReason> lost;
  {
    const base::Guard guard(tenancy().mutex_);
    if (!parted_ && !tenancy().fsm_.ended()) {
      LossSignal::WatchesPtr& watches = signal_.watches();
      if (!watches) watches = std::make_unique<LossSignal::Watches>();
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

void Claim::tell_end() noexcept {
  LossSignal::WatchesPtr watches;
  {
    const base::Guard guard(tenancy().mutex_);
    if (!parted_ && tenancy().fsm_.was_lost()) return;
    watches = signal_.take_watches();
  }
  if (watches) watches->tell({});
}

void Claim::tell_lost(const std::string& name, LossReason reason) noexcept {
  LossSignal::WatchesPtr watches;
  {
    const base::Guard guard(tenancy().mutex_);
    watches = signal_.take_watches();
  }
  if (!watches) return;
  watches->tell(reason);
  LossSignal::Watches::post(std::move(watches), self(), name, reason);
}

ReleaseOutcome Claim::known_outcome() const {
  const base::Guard guard(tenancy().mutex_);
  if (!parted_) return tenancy().outcome_;
  return left_ ? ReleaseOutcome::left : ReleaseOutcome::released;
}

// ---- its end by its holder: hold_release.cpp decides when ----

std::optional<HoldFsm::Extension> Claim::begin_share() {
  const base::Guard guard(tenancy().mutex_);
  const TimePoint now = base::Clock::now();
  if (released_ || tenancy().fsm_.valid_for(now) <= Duration{}) return std::nullopt;
  tenancy().being_shared_.store(true, std::memory_order_relaxed);
  return tenancy().fsm_.begin_extension(now, tenancy().fsm_.lease());
}

Claim::Release Claim::begin_release(Ending& ending, milliseconds rest) noexcept {
  const base::Guard guard(tenancy().mutex_);
  if (released_) return Release::ended;
  released_ = true;
  HoldFsm& fsm = tenancy().fsm_;
  const TimePoint now = base::Clock::now();
  const bool had_ended = fsm.ended();
  const bool found_lost = !had_ended && fsm.on_time(now) == HoldFsm::Todo::lost;
  const bool stood = !had_ended && !found_lost;
  if (stood) tenancy().unlink(*this);
  if (stood && tenancy().has_claims()) {
    parted_ = true;
    left_ = rest > milliseconds{};
    if (left_) tenancy().rest_until_ = std::max(tenancy().rest_until_, now + rest);
  } else if (!fsm.begin_release()) {
    // What a closed client ends is reported once, for all claims.
    if (!fsm.was_lost() || fsm.reason() == LossReason::closed) return Release::ended;
    if (tenancy().outcome_ == ReleaseOutcome::unknown) tenancy().outcome_ = ReleaseOutcome::was_lost;
    return Release::left;
  }
  ending = tenancy().ending(now, stood);
  ending.found_lost = found_lost;
  ending.since = granted_at();
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

namespace {

/// Of an owner of this client: `<client id>:<number>`.
std::uint64_t number_of(const wire::Owner& owner) {
  const char* const end = owner.text.data() + owner.text.size();
  std::uint64_t number = 0;
  std::from_chars(owner.text.data() + owner.text.rfind(':') + 1, end, number);
  return number;
}

/// Nearly all have one permit, and then the number need not be kept.
std::unique_ptr<const wire::Grant> with_permits(std::unique_ptr<const wire::Grant> grant, const wire::Owner& owner,
                                                const wire::Ask& ask) {
  if (ask.permits == 1) return grant;
  wire::Grant kept = grant ? *grant : wire::Grant{.owner = owner};
  kept.owner.ask = ask;
  return std::make_unique<const wire::Grant>(std::move(kept));
}

}  // namespace

Granted::Granted(std::unique_ptr<const wire::Grant> grant, std::uint64_t owner_number) : kept_(grant != nullptr) {
  if (kept_) {
    either_.grant = grant.release();
  } else {
    either_.owner_number = owner_number;
  }
}

/// A claim that came after the first. An object of its own, which keeps the tenancy alive.
class Tenancy::LaterClaim final : public Claim, public std::enable_shared_from_this<LaterClaim> {
 public:
  LaterClaim(std::shared_ptr<Tenancy> tenancy, const LossSignal::LostCallback& on_lost, TimePoint granted_at)
      : Claim(Which::later, on_lost), granted_at_(granted_at), keep_(std::move(tenancy)) {}
  ~LaterClaim() {
    if (keep_->runtime_->in_child()) return;  // whoever held a mutex in the parent holds it for ever in the child
    const base::Guard guard(keep_->mutex_);
    keep_->unlink(*this);
  }
  TimePoint granted_at() const { return granted_at_; }
  Tenancy& tenancy() const { return *keep_; }

 private:
  friend class Tenancy;
  const TimePoint granted_at_;
  const std::shared_ptr<Tenancy> keep_;
  LaterClaim* next_ = nullptr;  // in the tenancy's list of claims
};

Tenancy& Claim::tenancy() {
  return which_ == Which::first ? static_cast<Tenancy&>(*this) : static_cast<Tenancy::LaterClaim*>(this)->tenancy();
}
const Tenancy& Claim::tenancy() const {
  return which_ == Which::first ? static_cast<const Tenancy&>(*this)
                                : static_cast<const Tenancy::LaterClaim*>(this)->tenancy();
}

/// Null: it is being destroyed.
std::shared_ptr<Claim> Claim::self() {
  if (which_ == Which::later) return static_cast<Tenancy::LaterClaim*>(this)->weak_from_this().lock();
  if (std::shared_ptr<Tenancy> its = tenancy().weak_from_this().lock()) return {std::move(its), this};
  return nullptr;
}

TimePoint Claim::granted_at() const {
  return which_ == Which::later ? static_cast<const Tenancy::LaterClaim*>(this)->granted_at() : tenancy().granted_at();
}

Tenancy::Tenancy(std::shared_ptr<Runtime> runtime, std::shared_ptr<Target> target, const wire::Owner& owner,
                 wire::Ask ask, TimePoint sent_at, const LeaseTerms& terms, const LossSignal::LostCallback& on_lost,
                 std::unique_ptr<const wire::Grant> grant, std::uint32_t acked_era)
    : Claim(Which::first, on_lost),
      runtime_(std::move(runtime)),
      target_(std::move(target)),
      fsm_(sent_at, terms, sent_at, acked_era,
           runtime_->config().loss_notice ? HoldFsm::Watched::yes : HoldFsm::Watched::no),
      granted_(with_permits(std::move(grant), owner, ask), number_of(owner)),
      mode_(ask.mode) {
  open_ = true;
}

wire::Owner Tenancy::owner() const {
  const wire::Grant* const grant = granted_.grant();
  wire::Owner owner = grant != nullptr ? grant->owner : runtime_->owner(granted_.owner_number());
  owner.ask = ask();
  return owner;
}

// ---- claims ----

void Tenancy::link(Claim& claim) {
  claim.open_ = true;
  if (claim.which_ == Which::first) return;
  auto& later = static_cast<LaterClaim&>(claim);
  later.next_ = std::exchange(later_claims_, &later);
}

/// No effect if it is not linked.
void Tenancy::unlink(Claim& claim) {
  const bool was_open = claim.open_;
  claim.open_ = false;
  if (!was_open || claim.which_ == Which::first) return;
  LaterClaim** each = &later_claims_;
  while (*each != &claim) each = &(*each)->next_;
  *each = (*each)->next_;
}

bool Tenancy::has_claims_beside(const Claim& claim) const {
  if (claim.which_ == Which::first) return later_claims_ != nullptr;
  return open_ || later_claims_ != &claim || later_claims_->next_ != nullptr;
}

std::shared_ptr<Claim> Tenancy::add_claim(const LeaseTerms& terms, const LossSignal::LostCallback& on_lost,
                                          TimePoint now, std::uint32_t era) {
  const auto claim = std::make_shared<LaterClaim>(shared_from_this(), on_lost, now);
  const base::Guard guard(mutex_);
  if (!fsm_.fits(terms, now, era)) return nullptr;
  if (!has_claims()) {
    fsm_.set_cap(now, terms.max_hold);
  } else if (fsm_.capped() || terms.max_hold) {
    return nullptr;
  }
  link(*claim);
  return claim;
}

std::shared_ptr<Claim> Tenancy::take_claim() noexcept {
  const base::Guard guard(mutex_);
  while (has_claims()) {
    Claim& claim = later_claims_ != nullptr ? *later_claims_ : static_cast<Claim&>(*this);
    unlink(claim);
    if (std::shared_ptr<Claim> alive = claim.self()) return alive;
  }
  return nullptr;
}

// ---- what becomes of it ----

bool Tenancy::expire(TimePoint now) {
  const base::Guard guard(mutex_);
  return now >= fsm_.deadline() && fsm_.on_time(now) == HoldFsm::Todo::lost;
}

void Tenancy::drop_watches() {
  while (const std::shared_ptr<Claim> claim = take_claim()) {
    LossSignal::WatchesPtr watches;  // destroyed without the mutex
    const base::Guard guard(mutex_);
    watches = claim->signal_.take_watches();
  }
}

void Tenancy::set_shared(TimePoint now) {
  shared_at_ = now;
  end_share();
}

// ---- its release ----

Ending Tenancy::ending(TimePoint now, bool stood) const {
  return {.deadline = fsm_.deadline(),
          .extended_at = fsm_.last_extension(),
          .give_up = gone_by(now, fsm_.longest_lease()),
          .stood = stood};
}

std::optional<Ending> Tenancy::begin_release() noexcept {
  const base::Guard guard(mutex_);
  const bool stood = !fsm_.ended();
  if (!fsm_.begin_release()) return std::nullopt;
  Ending ending = this->ending(base::Clock::now(), stood);
  if (has_claims() || fsm_.was_lost()) ending.since = granted_at();
  return ending;
}

milliseconds Tenancy::rest(TimePoint now) const {
  const base::Guard guard(mutex_);
  return std::chrono::ceil<milliseconds>(std::max(rest_until_ - now, Duration{}));
}

void Tenancy::set_outcome(ReleaseOutcome outcome) {
  const base::Guard guard(mutex_);
  outcome_ = outcome;
  if (outcome == ReleaseOutcome::was_lost) fsm_.on_release_found_none(base::Clock::now());
}

}  // namespace holdfast::engine
