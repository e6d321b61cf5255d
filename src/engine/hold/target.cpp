#include "engine/hold/target.hpp"

#include "engine/client/core.hpp"
#include "engine/hold/held_lock.hpp"

namespace holdfast::engine {

using base::Clock;

namespace {

/// How long waiters let a release go first whose outcome they want to know. It takes a round trip; when it takes
/// longer, something is wrong, and they must find out what.
constexpr Duration kReleaseFirst = milliseconds(100);

}  // namespace

Target::Target(std::string name) : name_(std::move(name)) {}
Target::~Target() = default;

ThreadHolds& Target::threads() {
  const base::Guard guard(mutex_);
  if (!threads_) threads_ = std::make_unique<ThreadHolds>();
  return *threads_;
}

ThreadHolds::Entry Target::hold_of(std::uint64_t thread) const {
  const ThreadHolds* threads = nullptr;
  {
    const base::Guard guard(mutex_);
    threads = threads_.get();
  }
  return threads == nullptr ? ThreadHolds::Entry{} : threads->find(thread);
}

// ---- the queue ----

Target::Busy& Target::busy() {
  if (!busy_) {
    // Clients that are not told of releases ask now and then: they would starve.
    busy_ = std::make_unique<Busy>(plan().announced ? handoff() : Duration{});
    if (holder_ != nullptr) busy_->tenure.on_granted(holder_->extended_at());
  }
  return *busy_;
}

/// Forgets what is of no use any more.
void Target::rest() {
  if (!busy_ || head_ != nullptr || releasing_ > 0 || listening_ > 0 || busy_->tenure.others() > 0) return;
  busy_.reset();
}

void Target::wake_head() {
  if (head_ != nullptr) head_->post(Waiter::Signal::wake);
}

void Target::enter(Waiter& waiter) {
  const base::Guard guard(mutex_);
  if (head_ == nullptr) {
    head_ = &waiter;
    waiter.post(Waiter::Signal::turn);
  } else {
    busy().behind.push_back(waiter);
  }
}

std::optional<Kept> Target::leave(Waiter& waiter) {
  std::optional<Kept> unwanted;
  const base::Guard guard(mutex_);
  if (head_ != &waiter) {
    if (waiter.is_linked()) busy_->behind.erase(busy_->behind.iterator_to(waiter));
    return unwanted;
  }
  head_ = nullptr;
  if (!busy_) return unwanted;
  if (busy_->behind.empty()) {
    unwanted.swap(busy_->kept);
    rest();
  } else {
    head_ = &busy_->behind.front();
    busy_->behind.pop_front();
    head_->post(Waiter::Signal::turn);
  }
  return unwanted;
}

void Target::wake() {
  const base::Guard guard(mutex_);
  wake_head();
}

void Target::heard() {
  const base::Guard guard(mutex_);
  // Our own release's messages, one for each lock, come before its reply (or behind it: then they are expected, and do
  // not come here). Whether these were they, the reply tells.
  if (unclaimed_ < releasing_ * static_cast<std::int32_t>(batched_locks())) {
    ++unclaimed_;
  } else {
    other_released();
  }
}

void Target::other_released() {
  if (holder_ == nullptr && busy_) busy_->tenure.on_other();
  if (head_ != nullptr) head_->post(Waiter::Signal::message);
}

void Target::close() {
  const base::Guard guard(mutex_);
  if (head_ != nullptr) head_->post(Waiter::Signal::closed);
  if (!busy_) return;
  for (Waiter& waiter : busy_->behind) waiter.post(Waiter::Signal::closed);
}

void Target::drop_waiters() {
  for (;;) {
    Waiter* waiter = nullptr;
    {
      const base::Guard guard(mutex_);
      waiter = head_;
      head_ = nullptr;
      if (busy_ && !busy_->behind.empty()) {  // there is always a head where somebody is behind it: see rest()
        head_ = &busy_->behind.front();
        busy_->behind.pop_front();
      }
      if (busy_) busy_->kept.reset();
    }
    if (waiter == nullptr) return;
    waiter->drop();
  }
}

void Target::forget_threads() {
  ThreadHolds* threads = nullptr;
  {
    const base::Guard guard(mutex_);
    threads = threads_.get();
  }
  if (threads != nullptr) threads->forget_all();
}

Target::Use Target::listen() {
  struct Listening {
    Listening(std::shared_ptr<Target> its_target, Use its_use)
        : target(std::move(its_target)), use(std::move(its_use)) {
      const base::Guard guard(target->mutex_);
      ++target->listening_;
    }
    ~Listening() {
      const base::Guard guard(target->mutex_);
      --target->listening_;
      target->rest();
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    const std::shared_ptr<Target> target;
    const Use use;
  };
  return std::make_shared<Listening>(shared_from_this(), begin_use());
}

// ---- the holder ----

TargetView Target::view() const {
  TargetView view;
  view.subscribed = subscribed();
  const base::Guard guard(mutex_);
  view.held_here = holder_ != nullptr && holder_->stands();
  if (releasing_ > 0 && release_first_ != TimePoint{}) {
    view.not_before = release_first_;
  } else if (busy_) {
    view.not_before = busy_->tenure.pause_until();
  }
  if (busy_) {
    view.others = busy_->tenure.others();
    view.strangers = busy_->tenure.strangers(Clock::now());
    view.place_limit = busy_->place_limit.limit();
  }
  return view;
}

void Target::set_holder(const std::shared_ptr<HeldLock>& holder) {
  const base::Guard guard(mutex_);
  holder_ = holder.get();
  if (!busy_) return;
  busy_->tenure.on_granted(holder->extended_at());
  busy_->tenure.on_queue_served(Clock::now());
}

void Target::saw_other(bool stranger) {
  const base::Guard guard(mutex_);
  if (stranger) busy().tenure.on_stranger(Clock::now());
  if (releasing_ > 0) {
    overtaken_ = true;
  } else {
    busy().tenure.on_other();
  }
}

void Target::waited(const Place& place) {
  const base::Guard guard(mutex_);
  if (busy_) busy_->place_limit.on_end(place);
}

bool Target::has(const wire::Owner& owner) const {
  const base::Guard guard(mutex_);
  if (busy_ && busy_->kept && busy_->kept->owner.text == owner.text) return true;
  return holder_ != nullptr && holder_->stands() && holder_->owner().text == owner.text;
}

void Target::clear_holder(const HeldLock* holder) {
  const base::Guard guard(mutex_);
  if (holder_ != holder) return;
  holder_ = nullptr;
  wake_head();
}

// ---- passing it on ----

bool Target::keep(Core& core, HeldLock& hold) {
  Pending::Token pending = core.pending().begin();  // close() waits until somebody has it, or has given it back
  const TimePoint now = Clock::now();
  const base::Guard guard(mutex_);
  if (head_ == nullptr || holder_ != &hold || core.unusable() || !busy().tenure.may_pass(now)) return false;
  wire::Owner owner = hold.owner();  // what takes memory comes first
  const std::optional<TimePoint> sent_at = hold.end_to_pass_on(now);
  if (!sent_at) return false;
  holder_ = nullptr;
  busy_->kept.emplace(std::move(owner), *sent_at, hold.lease(), std::move(pending));
  wake_head();
  return true;
}

Target::Taken Target::take_kept(const Taker& taker) {
  Taken taken;
  Pending::Token pending;  // until it is armed
  {
    const base::Guard guard(mutex_);
    if (!busy_ || !busy_->kept) return taken;
    const TimePoint now = Clock::now();
    std::optional<Kept>& kept = busy_->kept;
    if (!taker.from_queue && !busy_->tenure.may_overtake(now)) return taken;
    const bool fits = taker.terms.renewed && taker.terms.length == kept->lease &&
                      now < lease_end(kept->sent_at, taker.terms.length / 2);
    if (!fits) {
      if (taker.from_queue) taken.unfit.swap(kept);
      return taken;
    }
    if (taker.from_queue) busy_->tenure.on_queue_served(now);
    taken.held = std::make_shared<HeldLock>(taker.core, shared_from_this(), kept->owner, kept->sent_at, taker.terms,
                                            taker.on_lost, now);
    pending = std::move(kept->pending);
    kept.reset();
    holder_ = taken.held.get();
  }
  taker.core->watchdog().arm(taken.held);
  return taken;
}

void Target::give_back(Core& core, Kept kept) noexcept {
  begin_release();
  try {
    release(core, kept.owner, lease_end(kept.sent_at, kept.lease), kept.sent_at + kept.lease + margin(kept.lease),
            [self = shared_from_this(), since = kept.sent_at,
             pending = std::move(kept.pending)](const Released& released) { self->end_release(released, since); });
  } catch (...) {
    end_release({}, kept.sent_at);  // out of memory: the lease ends it
  }
}

// ---- giving it back ----

bool Target::others_listened() const {
  const base::Guard guard(mutex_);
  return busy_ && busy_->tenure.others() > 0;
}

void Target::begin_release() {
  const base::Guard guard(mutex_);
  ++releasing_;
  release_first_ = {};
  if (!busy_) return;
  const TimePoint now = Clock::now();
  if (busy_->tenure.must_ask_after_release(now)) release_first_ = now + kReleaseFirst;
}

void Target::end_release(const Released& released, TimePoint held_since) {
  if (released.listeners > 0) stay();
  const base::Guard guard(mutex_);
  --releasing_;
  const bool ask_again = std::exchange(overtaken_, false) || release_first_ != TimePoint{};
  const auto others = static_cast<int>(std::max<std::int64_t>(released.listeners - listening_, 0));
  if (others > 0 && !busy_) busy().tenure.on_granted(held_since);
  if (busy_) busy_->tenure.on_released(Clock::now(), others);
  if (releasing_ == 0 && std::exchange(unclaimed_, 0) > 0 && released.outcome != ReleaseOutcome::released) {
    other_released();
  }
  if (ask_again) wake_head();
  rest();
}

void Target::undo(Core& core, const wire::Owner& owner, milliseconds lease) noexcept {
  if (core.in_child()) return;
  const TimePoint end = Clock::now() + lease + margin(lease);
  try {
    release(core, owner, end, end, [undo = core.undos().begin()](const Released&) {});
  } catch (...) {
    // Out of memory: the lease ends it, if there is one.
  }
}

}  // namespace holdfast::engine
