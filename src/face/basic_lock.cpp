#include <cstdio>

#include <holdfast/basic_lock.hpp>
#include <holdfast/detail/hold_access.hpp>
#include <holdfast/error.hpp>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "engine/acquire/acquire.hpp"
#include "engine/hold/hold_release.hpp"
#include "engine/hold/target.hpp"
#include "engine/runtime/runtime.hpp"
#include "face/defaults.hpp"
#include "face/outcome.hpp"
#include "face/own_hold.hpp"
#include "face/parts.hpp"

namespace holdfast {
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

}  // namespace

detail::PartsPtr BasicLock::parts_with(AcquireOptions defaults) const {
  if (parts_->defaults) defaults = face::with_defaults(std::move(defaults), *parts_->defaults);
  return face::make_parts(parts_->runtime, parts_->target, std::move(defaults), parts_->ask);
}

const std::string& BasicLock::name() const noexcept { return parts_->target->name(); }

Hold BasicLock::acquire(const AcquireOptions& options) const {
  engine::Acquired result = holdfast::acquire(*parts_, options, DefaultWait::wait_on);
  result.error = face::as_waiting(result.error);
  if (result.error) throw face::error_about(*parts_->target, std::move(result));
  return detail::HoldAccess::make(std::move(result.held));
}

MaybeHold BasicLock::try_acquire(const AcquireOptions& options) const {
  engine::Acquired result = holdfast::acquire(*parts_, options, DefaultWait::ask_once);
  if (!result.error) return detail::HoldAccess::make(std::move(result.held));
  if (!face::not_granted(result.error)) throw face::error_about(*parts_->target, std::move(result));
  return std::nullopt;
}

MaybeHold BasicLock::try_acquire(const AcquireOptions& options, std::error_code& ec) const {
  try {
    engine::Acquired result = holdfast::acquire(*parts_, options, DefaultWait::ask_once);
    ec = result.error;
    if (!ec) return detail::HoldAccess::make(std::move(result.held));
  } catch (const Error& error) {
    ec = error.code();
  }
  return std::nullopt;
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
    if (each->count == 0 || each->held->valid_for() > engine::Duration{}) continue;
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
  AcquireOptions options = parts_->defaults ? *parts_->defaults : AcquireOptions();
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
    const bool first = reporter.count.misuses.fetch_add(1) == 0;
    if (first && !reporter.has_observer()) print_misuse(name());
    reporter.tell(&Observer::on_misuse,
                  [this] { return MisuseEvent{name(), "unlock() by a thread that does not hold it"}; });
    return false;
  } catch (...) {
    return true;  // the mutex cannot be locked: the lease ends the hold
  }
}

}  // namespace holdfast
