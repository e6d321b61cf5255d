#include "engine/held_lock.hpp"

#include <charconv>

#include "engine/core.hpp"
#include "engine/target.hpp"

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
  const std::scoped_lock guard(mutex_);
  return fsm_.state();
}

bool HeldLock::stands() const {
  const std::scoped_lock guard(mutex_);
  return fsm_.valid_for(base::Clock::now()) > Duration{};
}

TimePoint HeldLock::extended_at() const {
  const std::scoped_lock guard(mutex_);
  return fsm_.last_extension();
}

bool HeldLock::ended() const {
  const std::scoped_lock guard(mutex_);
  return fsm_.ended();
}

Duration HeldLock::valid_for() {
  if (core_->in_child()) return {};
  HoldFsm::Todo todo{};
  LossReason reason{};
  HoldState state{};
  {
    const std::scoped_lock guard(mutex_);
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
  const std::scoped_lock guard(mutex_);
  if (!stop_.stop_possible()) {
    stop_ = std::stop_source();
    if (fsm_.was_lost()) stop_.request_stop();  // nobody can have a callback on it yet
  }
  return stop_.get_token();
}

void HeldLock::request_stop() {
  std::stop_source source = [this] {
    const std::scoped_lock guard(mutex_);
    return stop_;
  }();
  source.request_stop();  // without the mutex: it runs callbacks
}

void HeldLock::announce_loss(LossReason reason, StopIn where) {
  target_->clear_holder(this);
  Reporter& reporter = core_->reporter();
  Reporter::add(reporter.count.lost);
  const LostEvent event{target_->name(), owner().text, reason};
  if (where == StopIn::this_thread) {
    request_stop();
  } else {
    core_->signals().post([self = shared_from_this()] { self->request_stop(); });
  }
  tell_watches(reason);
  reporter.tell(&Observer::on_lost, [&] { return event; });
}

void HeldLock::apply(HoldFsm::Change change, const std::string& cause) {
  if (change == HoldFsm::Change::none) return;
  LossReason reason{};
  Duration left{};
  {
    const std::scoped_lock guard(mutex_);
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
    const std::scoped_lock guard(mutex_);
    todo = fsm_.on_time(now, early);
    reason = fsm_.reason();
  }
  if (todo == HoldFsm::Todo::lost) announce_loss(reason, StopIn::signal_thread);
  return todo;
}

void HeldLock::on_renewed(TimePoint sent_at, TimePoint now) {
  HoldFsm::Change change{};
  {
    const std::scoped_lock guard(mutex_);
    change = fsm_.on_renewed(sent_at, now);
  }
  apply(change);
}

void HeldLock::on_gone() {
  HoldFsm::Change change{};
  {
    const std::scoped_lock guard(mutex_);
    change = fsm_.on_gone();
  }
  apply(change);
}

void HeldLock::on_unanswered(TimePoint now, const std::string& cause) {
  HoldFsm::Change change{};
  {
    const std::scoped_lock guard(mutex_);
    change = fsm_.on_unanswered(now);
  }
  apply(change, cause);
}

void HeldLock::on_reconnect(TimePoint now) {
  const std::scoped_lock guard(mutex_);
  fsm_.on_reconnect(now);
}

void HeldLock::on_closed() {
  HoldFsm::Change change{};
  {
    const std::scoped_lock guard(mutex_);
    change = fsm_.on_closed();
  }
  apply(change);
}

TimePoint HeldLock::due() const {
  const std::scoped_lock guard(mutex_);
  return fsm_.due();
}

Duration HeldLock::lateness(TimePoint now) const {
  const std::scoped_lock guard(mutex_);
  return fsm_.lateness(now);
}

std::uint64_t HeldLock::watch(EndCallback told) {
  std::optional<LossReason> lost;
  {
    const std::scoped_lock guard(mutex_);
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
  const std::scoped_lock guard(mutex_);
  if (!watches_) return;
  if (const auto found = watches_->ends.find(watching); found != watches_->ends.end()) {
    last.swap(found->second);
    watches_->ends.erase(found);
  }
}

void HeldLock::drop_watches() {
  std::unique_ptr<Watches> watches;  // destroyed without the mutex
  const std::scoped_lock guard(mutex_);
  watches.swap(watches_);
}

void HeldLock::tell_watches(std::optional<LossReason> lost) {
  std::unique_ptr<Watches> watches;
  {
    const std::scoped_lock guard(mutex_);
    if (!lost && fsm_.was_lost()) return;  // it was; whoever found it tells
    watches.swap(watches_);
  }
  if (!watches) return;
  if (lost && watches->on_lost) {
    core_->notifier().post([on_lost = std::move(watches->on_lost),
                            event = LostEvent{target_->name(), owner().text, *lost}] { on_lost(event); });
  }
  for (const auto& [watching, told] : watches->ends) told(lost);
}

std::optional<TimePoint> HeldLock::end_to_pass_on(TimePoint now) {
  const std::scoped_lock guard(mutex_);
  if (!fsm_.renewed() || fsm_.state() != HoldState::held || fsm_.valid_for(now) < Duration(lease()) / 2) return {};
  fsm_.begin_release();
  outcome_ = ReleaseOutcome::released;
  return fsm_.last_extension();
}

bool HeldLock::pass_on() {
  if (!target_->keep(*core_, *this)) return false;
  tell_watches({});
  core_->watchdog().disarm(*this);
  report_released(ReleaseOutcome::released);
  return true;
}

void HeldLock::report_released(ReleaseOutcome outcome) {
  Reporter& reporter = core_->reporter();
  if (outcome == ReleaseOutcome::released) Reporter::add(reporter.count.released);
  reporter.tell(&Observer::on_released, [&] {
    TimePoint granted_at{};
    {
      const std::scoped_lock guard(mutex_);
      granted_at = fsm_.granted_at();
    }
    return ReleasedEvent{target_->name(), owner().text, to_string(outcome), base::Clock::now() - granted_at};
  });
}

std::optional<HeldLock::Ending> HeldLock::begin_release() {
  Ending ending;
  {
    const std::scoped_lock guard(mutex_);
    if (!fsm_.begin_release()) return std::nullopt;
    ending = {fsm_.deadline(), fsm_.last_extension()};
  }
  tell_watches({});
  core_->watchdog().disarm(*this);
  target_->begin_release();
  return ending;
}

void HeldLock::release_async(std::function<void(ReleaseOutcome)> done) {
  if (const std::optional<Ending> ending = begin_release()) return send_release(*ending, std::move(done));
  if (done) done(known_outcome());
}

ReleaseOutcome HeldLock::known_outcome() const {
  const std::scoped_lock guard(mutex_);
  return outcome_;
}

void HeldLock::send_release(const Ending& ending, std::function<void(ReleaseOutcome)> done) {
  const TimePoint give_up = base::Clock::now() + lease() + margin(lease());
  target_->release(
      *core_, owner(), ending.deadline, give_up,
      [self = shared_from_this(), since = ending.extended_at, done = std::move(done)](const Released& released) {
        {
          const std::scoped_lock guard(self->mutex_);
          self->outcome_ = released.outcome;
        }
        self->target_->end_release(released, since);
        self->report_released(released.outcome);
        if (done) done(released.outcome);
      });
  // The release is queued: a local waiter's attempt will reach the server behind it.
  target_->clear_holder(this);
}

/// Waiters who only ask now and then would never find it free if the next attempt left together with the release.
bool HeldLock::pipelined() const { return core_->config().pipelined_release && target_->plan().announced; }

void HeldLock::unlock() noexcept {
  if (pipelined()) {
    unlock_without_waiting();
  } else {
    release();
  }
}

/// Pipelined, it leaves with the client's next command, or within a millisecond or two; at once if others wait for it.
void HeldLock::unlock_without_waiting() noexcept {
  if (core_->in_child()) return;
  try {
    struct Releasing final : Loop::Task {
      Releasing(std::shared_ptr<HeldLock> its_hold, Pending::Token token)
          : hold(std::move(its_hold)), pending(std::move(token)) {}
      void run() override { hold->send_release(ending, {}); }
      const std::shared_ptr<HeldLock> hold;
      const Pending::Token pending;
      Ending ending;
    };
    Pending::Token pending = core_->pending().begin();  // close() waits for it, or its flag is seen now
    if (core_->unusable()) return;
    if (pass_on()) return;
    const bool lazy = pipelined() && !target_->others_listened();
    const Loop::Pace pace = lazy ? Loop::Pace::with_the_next : Loop::Pace::at_once;
    auto releasing = std::make_shared<Releasing>(shared_from_this(), std::move(pending));
    const std::optional<Ending> ending = begin_release();  // from here on nobody finds it lost, close() neither
    if (!ending) return;
    releasing->ending = *ending;
    core_->loop().post_from_caller(std::move(releasing), pace);
  } catch (...) {
    // Out of memory: the lease ends the hold.
  }
}

ReleaseOutcome HeldLock::release() noexcept {
  if (core_->in_child()) return ReleaseOutcome::was_lost;
  OwnLoop* const loop = core_->own_loop();
  if (loop == nullptr) {
    unlock_without_waiting();
    return known_outcome();
  }
  try {
    struct Releasing final : Loop::Task, std::enable_shared_from_this<Releasing> {
      explicit Releasing(std::shared_ptr<HeldLock> its_hold) : hold(std::move(its_hold)) {}
      void run() override {
        hold->release_async([self = shared_from_this()](ReleaseOutcome known) {
          self->outcome = known;
          self->hold->core_->own_loop()->set(self->answer);
        });
      }
      const std::shared_ptr<HeldLock> hold;
      OwnLoop::Answer answer;
      ReleaseOutcome outcome = ReleaseOutcome::unknown;
    };
    const Pending::Token pending = core_->pending().begin();  // close() waits for it, or its flag is seen now
    if (core_->unusable()) return known_outcome();
    if (pass_on()) return ReleaseOutcome::released;
    const auto releasing = std::make_shared<Releasing>(shared_from_this());
    loop->call(releasing, releasing->answer, base::Clock::now() + core_->config().release_timeout);
    if (releasing->answer.is_there()) return releasing->outcome;
  } catch (...) {
    // Out of memory or threads: the lease ends the hold.
  }
  return ReleaseOutcome::unknown;
}

}  // namespace holdfast::engine
