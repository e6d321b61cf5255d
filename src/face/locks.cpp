// SPDX-License-Identifier: Apache-2.0
// The handles of locks, and the holds that threads have by lock().

#include <cstdio>

#include <holdfast/detail/hold_access.hpp>
#include <holdfast/error.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/lock.hpp>

#include "base/entropy.hpp"
#include "base/text.hpp"
#include "face/parts.hpp"
#include "face/queries.hpp"
#include "face/travel.hpp"
#include "lock/hold/acquire.hpp"
#include "lock/hold/changes.hpp"
#include "lock/hold/hold_events.hpp"
#include "lock/hold/hold_release.hpp"
#include "lock/queue/target.hpp"
#include "lock/runtime/runtime.hpp"

namespace holdfast::face {
namespace {

engine::ThreadHolds::Who this_thread(wire::Mode mode) { return {base::this_thread_number(), mode}; }

/// The hold in this mode. Empty in a forked child, where the target's mutex must not be touched.
engine::ThreadHolds::Entry own_hold(const engine::Target& target, wire::Mode mode) {
  if (target.runtime().in_child()) return {};
  return target.threads().find(this_thread(mode));
}

/// The calling thread leaves one level. If it was the last one in this mode, `end` releases the hold, unless the thread
/// also has it in the other mode.
template <class End>
engine::ThreadHolds::Entry leave_level(const detail::Parts& parts, End end) {
  using wire::Mode;
  engine::ThreadHolds& threads = parts.target->threads();
  engine::ThreadHolds::Entry own = threads.leave_level(this_thread(parts.ask.mode));
  if (own.count != 1) return own;
  const bool shared = parts.ask.mode == Mode::shared;
  const engine::ThreadHolds::Entry other = threads.find(this_thread(shared ? Mode::exclusive : Mode::shared));
  if (other.count == 0 || other.held != own.held) {
    end(*own.held);
  } else if (!shared) {
    // If refused, the reader learns it from the loss of the hold.
    [[maybe_unused]] const engine::Changed refused = engine::share(*own.held);
  }
  return own;
}

}  // namespace
}  // namespace holdfast::face

namespace holdfast {

bool KeyLock::is_locked() const { return face::ask(*parts()->runtime, face::is_locked(face::key_target(*parts()))); }

bool KeyLock::is_held_by(const std::string& owner) const {
  return face::ask(*parts()->runtime, face::is_held_by(face::key_target(*parts()), wire::Owner{owner, parts()->ask}));
}

std::optional<std::chrono::milliseconds> KeyLock::remaining() const {
  return face::ask(*parts()->runtime, face::remaining(face::key_target(*parts())));
}

std::size_t KeyLock::ask_release() const {
  return face::ask(*parts()->runtime, face::ask_release(face::key_target(*parts())));
}

LockInfo KeyLock::info(InfoDetail detail) const {
  return face::ask_in_steps(*parts()->runtime, face::Looking(face::key_target(*parts()), detail), name());
}

bool KeyLock::force_release() const {
  return face::ask(*parts()->runtime, face::force_release(face::key_target(*parts())));
}

bool KeyLock::force_release(const std::string& owner) const {
  return face::ask(*parts()->runtime, face::force_release(face::key_target(*parts()), wire::Owner{owner}));
}

std::int64_t FencedLock::latest_token() const {
  return face::ask(*parts()->runtime, face::latest_token(face::key_target(*parts())));
}

ReadWriteLock ReadWriteLock::make(detail::PartsPtr writer) {
  ReadLock reader(face::make_parts(*writer, {}, {wire::Mode::shared}));
  return {WriteLock(std::move(writer)), std::move(reader)};
}

bool face::reads_already(const engine::Target& target, const std::shared_ptr<engine::Claim>& held) {
  if (!held || held->target().get() != &target) {
    throw error_about(target, Errc::invalid_argument, held ? "the hold is of another lock" : "the hold is empty");
  }
  if (held->tenancy().ask().mode != wire::Mode::shared) return false;
  require_valid(*held);
  return true;
}

void ReadWriteLock::downgrade(Hold& hold) const {
  const std::shared_ptr<engine::Claim>& held = detail::HoldAccess::held(hold);
  const engine::Target& target = *parts()->target;
  if (face::reads_already(target, held)) return;
  if (const engine::Changed shared = engine::share(*held); shared.error) {
    throw face::error_about(target, shared.error, {});
  }
}

using engine::ThreadHolds;

bool ThisThread::is_holding() const noexcept {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held && engine::valid_for(*own.held) > engine::Duration{};
}

std::int64_t ThisThread::hold_count() const noexcept { return face::own_hold(*parts_->target, parts_->ask.mode).count; }

bool ThisThread::is_lost() const noexcept {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held && engine::checked(*own.held).loss_reason();
}

std::stop_token ThisThread::lost_token() const noexcept {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held ? engine::checked(*own.held).stop_token() : std::stop_token{};
}

std::chrono::milliseconds ThisThread::valid_for() const noexcept {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held ? std::chrono::duration_cast<std::chrono::milliseconds>(engine::valid_for(*own.held))
                  : std::chrono::milliseconds{};
}

std::optional<std::int64_t> ThisThread::token() const noexcept {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held ? own.held->tenancy().token() : std::nullopt;
}

UnlockOutcome ThisThread::release() const {
  const engine::Target& target = *parts_->target;
  if (target.runtime().in_child()) throw face::error_about(target, Errc::forked, {});
  std::optional<ReleaseOutcome> outcome;
  const ThreadHolds::Entry own =
      face::leave_level(*parts_, [&](engine::Claim& held) { outcome = engine::release(held); });
  if (own.count == 0) throw face::error_about(target, Errc::not_owner, "release by a thread that does not hold it");
  if (outcome == ReleaseOutcome::released) return UnlockOutcome::released;
  if (outcome == ReleaseOutcome::unknown) return UnlockOutcome::unknown;
  const bool stands = !outcome && engine::valid_for(*own.held) > engine::Duration{};
  return stands ? UnlockOutcome::still_held : UnlockOutcome::was_lost;
}

namespace {

using engine::DefaultWait;

[[noreturn]] void fail(const engine::Target& target, std::error_code error, std::string cause) {
  throw face::error_about(target, error, std::move(cause));
}

/// Where nobody would learn of it otherwise: the program believes that it has given back what others still wait for.
void print_misuse(const std::string& name) {
  const std::string line =
      "holdfast: unlock() of lock " + base::quote(name) + " by a thread that does not hold it: nothing was released\n";
  std::fputs(line.c_str(), stderr);
}

/// An unlimited wait for a hold that only the calling thread can release would never end.
void require_not_own(const detail::Parts& parts, const AcquireOptions& options, DefaultWait default_wait) {
  const bool limited = options.wait ? *options.wait < engine::kLongestLease : default_wait == DefaultWait::ask_once;
  const bool others_permits = parts.target->plan().traits.holders == engine::Traits::Holders::several;
  if (limited || others_permits) return;
  for (const wire::Mode mode : {wire::Mode::exclusive, wire::Mode::shared}) {
    if (mode == wire::Mode::shared && parts.ask.mode == wire::Mode::shared) continue;  // one more reader
    const engine::ThreadHolds::Entry own = face::own_hold(*parts.target, mode);
    if (own.count == 0 || !own.held->endless() || !own.held->stands()) continue;
    fail(*parts.target, Errc::would_deadlock, "it holds it by lock(), and the wait has no limit");
  }
}

engine::Acquired acquire_as_told(const detail::Parts& parts, const AcquireOptions& options, DefaultWait default_wait) {
  require_not_own(parts, options, default_wait);
  return engine::acquire(parts.runtime, parts.target, options, default_wait, parts.ask);
}

engine::Acquired acquire(const detail::Parts& parts, const AcquireOptions& options, DefaultWait default_wait) {
  if (!parts.defaults) return acquire_as_told(parts, options, default_wait);
  return acquire_as_told(parts, face::with_defaults(options, *parts.defaults), default_wait);
}

Hold hold_of(const detail::Parts& parts, const AcquireOptions& options, engine::Acquired granted) {
  return detail::HoldAccess::make(std::move(granted.held), face::end_waits(parts, options.end_waits));
}

}  // namespace

detail::PartsPtr BasicLock::parts_with(LockOptions defaults) const {
  return face::make_parts(*parts_, std::move(defaults), parts_->ask);
}

const std::string& BasicLock::name() const noexcept { return parts_->target->name(); }

Hold BasicLock::acquire(const AcquireOptions& options) const {
  engine::Acquired result = holdfast::acquire(*parts_, options, DefaultWait::wait_on);
  result.error = face::as_waiting(result.error);
  if (result.error) throw face::error_about(*parts_->target, std::move(result));
  return hold_of(*parts_, options, std::move(result));
}

MaybeHold BasicLock::try_acquire(const AcquireOptions& options) const {
  engine::Acquired result = holdfast::acquire(*parts_, options, DefaultWait::ask_once);
  if (!result.error) return hold_of(*parts_, options, std::move(result));
  if (!face::not_granted(result.error)) throw face::error_about(*parts_->target, std::move(result));
  return face::reason_of(result.error);
}

std::error_code BasicLock::enter(std::optional<std::chrono::milliseconds> wait, std::string* cause) const {
  using wire::Mode;
  parts_->runtime->require_usable(name());
  engine::Target& target = *parts_->target;
  const Mode mode = parts_->ask.mode;
  const auto refuse = [&](const char* why) -> std::error_code {
    if (cause != nullptr) *cause = why;
    return Errc::would_deadlock;
  };
  const bool reentrant = !parts_->defaults || parts_->defaults->reentrant.value_or(true);
  const engine::ThreadHolds::Entry own = face::own_hold(target, mode);
  const engine::ThreadHolds::Entry other =
      face::own_hold(target, mode == Mode::shared ? Mode::exclusive : Mode::shared);
  for (const engine::ThreadHolds::Entry* each : {&own, &other}) {
    if (each->count == 0 || engine::valid_for(*each->held) > engine::Duration{}) continue;
    fail(target, Errc::lost, "this thread holds it, but has lost it; unlock before locking again");
  }
  if (own.count > 0) {
    if (!target.plan().traits.reentrant)
      return refuse("it holds it already, and locks of this kind are not re-entrant");
    if (!reentrant) return refuse("it holds it already, and this lock was made with reentrant = false");
    target.threads().reenter(face::this_thread(mode));
    return {};
  }
  if (other.count > 0 && mode == Mode::exclusive) {
    return refuse("it holds it as a reader, and two readers that became writers would wait for each other");
  }
  if (other.count > 0 && !reentrant)
    return refuse("it holds it as a writer, and this lock was made with reentrant = false");
  if (other.count > 0) {  // a writer may also read
    target.threads().own(face::this_thread(mode), other.held);
    return {};
  }
  AcquireOptions options;
  if (parts_->defaults) options = face::with_defaults(std::move(options), *parts_->defaults);
  options.wait = wait;
  const DefaultWait default_wait = cause != nullptr ? DefaultWait::wait_on : DefaultWait::ask_once;
  engine::Acquired result = engine::acquire(parts_->runtime, parts_->target, options, default_wait, parts_->ask);
  if (!result.error) {
    try {
      target.threads().own(face::this_thread(mode), result.held);
    } catch (...) {
      engine::give_up(*result.held);  // out of memory: nobody could release it
      throw;
    }
    return {};
  }
  if (!face::not_granted(result.error)) throw face::error_about(target, std::move(result));
  if (cause != nullptr) *cause = std::move(result.cause);
  return result.error;
}

void BasicLock::lock() const {
  std::string cause;
  const std::error_code error = enter(parts_->defaults ? parts_->defaults->wait : std::nullopt, &cause);
  if (error) fail(*parts_->target, face::as_waiting(error), std::move(cause));
}

bool BasicLock::try_lock() const { return try_lock_within({}); }

bool BasicLock::try_lock_within(std::chrono::milliseconds wait) const { return !enter(wait, nullptr); }

/// False: not the owner. A forked child, and a closed client whose guards still end, are no mistake. Never throws, as
/// guards' destructors must not.
bool BasicLock::leave_level() const noexcept {
  try {
    if (parts_->runtime->in_child()) return true;
    const engine::ThreadHolds::Entry own =
        face::leave_level(*parts_, [](engine::Claim& held) { engine::unlock(held); });
    if (own.count > 0 || parts_->runtime->unusable()) return true;
    engine::Reporter& reporter = parts_->runtime->reporter();
    const bool first = reporter.add(&Counters::misuses) == 0;
    if (first && !reporter.has_observer()) print_misuse(name());
    reporter.tell(&Observer::on_misuse,
                  [this] { return MisuseEvent{name(), "unlock() by a thread that does not hold it"}; });
    return false;
  } catch (...) {
    return true;  // the mutex cannot be locked: the lease ends the hold
  }
}

}  // namespace holdfast
