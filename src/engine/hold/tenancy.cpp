#include "engine/hold/tenancy.hpp"

#include <charconv>
#include <utility>

#include "engine/hold/acquirable.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

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

Tenancy::Tenancy(std::shared_ptr<Runtime> runtime, std::shared_ptr<Acquirable> target, const wire::Owner& owner,
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

Tenancy::~Tenancy() {
  if (runtime_->in_child()) return;  // there nobody looks at the schedule or the target any more
  if (armed) target_->keeper().disarm(*this);
  target_->forget(*this);
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
                                          TimePoint now) {
  const auto claim = std::make_shared<LaterClaim>(shared_from_this(), on_lost, now);
  const std::uint32_t era = target_->acks_era();
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

/// Ends one of the claims that have not ended, since the tenancy has. Null: there is none left.
std::shared_ptr<Claim> Tenancy::take_claim() noexcept {
  const base::Guard guard(mutex_);
  while (has_claims()) {
    Claim& claim = later_claims_ != nullptr ? *later_claims_ : static_cast<Claim&>(*this);
    unlink(claim);
    if (std::shared_ptr<Claim> alive = claim.self()) return alive;
  }
  return nullptr;
}

void Tenancy::announce_loss(LossReason reason, StopIn where) noexcept {
  target_->forget(*this);
  Reporter& reporter = runtime_->reporter();
  while (const std::shared_ptr<Claim> claim = take_claim()) {
    Reporter::add(reporter.count.lost);
    reporter.meter.on_lost(target_->lock_class(), reason);
    claim->measure_end(base::Clock::now());
    if (where == StopIn::this_thread) {
      claim->request_stop();
    } else {
      LossSignal::Stop* stop = nullptr;
      {
        const base::Guard guard(mutex_);
        stop = claim->signal_.stop();
      }
      if (stop != nullptr) LossSignal::post(*stop, runtime_->signals(), claim);
    }
    claim->tell_end(reason);
    reporter.tell(&Observer::on_lost, [&] { return LostEvent{target_->name(), owner().text, reason}; });
  }
}

// ---- what becomes of it ----

bool Tenancy::expire(TimePoint now) {
  const base::Guard guard(mutex_);
  return now >= fsm_.deadline() && fsm_.on_time(now) == HoldFsm::Todo::lost;
}

void Tenancy::announce_expired() noexcept { announce_loss(known(&HoldFsm::reason), StopIn::signal_thread); }

/// Changes what is known of it, and reports that without the mutex.
template <class... Args>
void Tenancy::change(const std::string& cause, HoldFsm::Change (HoldFsm::*decide)(Args...),
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

void Tenancy::on_renewed(TimePoint sent_at, TimePoint now, std::uint32_t acked_era) {
  change({}, &HoldFsm::on_renewed, sent_at, now, acked_era);
}
void Tenancy::on_extended(const HoldFsm::Extension& extension, TimePoint sent_at, TimePoint now,
                          std::uint32_t acked_era) {
  change({}, &HoldFsm::on_extended, extension, sent_at, now, acked_era);
}
bool Tenancy::on_gone(TimePoint sent_at, TimePoint now) {
  if (!is_being_shared() && sent_at > shared_at_) {
    change({}, &HoldFsm::on_gone);
    return true;
  }
  on_unanswered(now, "it was asked for as a writer's, and is becoming a reader's");
  return false;
}
void Tenancy::on_unanswered(TimePoint now, const std::string& cause) { change(cause, &HoldFsm::on_unanswered, now); }
void Tenancy::on_moved(TimePoint now) { change("its slot is served by another server now", &HoldFsm::on_moved, now); }
void Tenancy::on_closed() { change({}, &HoldFsm::on_closed); }

HoldFsm::Todo Tenancy::on_time(TimePoint now, Duration early) {
  HoldFsm::Todo todo{};
  {
    const base::Guard guard(mutex_);
    todo = fsm_.on_time(now, early);
  }
  if (todo == HoldFsm::Todo::lost) announce_expired();
  return todo;
}

void Tenancy::drop_watches() {
  while (const std::shared_ptr<Claim> claim = take_claim()) {
    LossSignal::WatchesPtr watches;  // destroyed without the mutex
    const base::Guard guard(mutex_);
    watches = claim->signal_.take_watches();
  }
}

void Tenancy::on_shared(const HoldFsm::Extension& extension, TimePoint sent_at, TimePoint now) {
  on_no_longer_alone();
  on_extended(extension, sent_at, now, 0);
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
