#include <holdfast/error.hpp>
#include <holdfast/lock.hpp>

#include "base/ids.hpp"
#include "engine/acquire.hpp"
#include "engine/core.hpp"
#include "sync/lock_plan.hpp"

namespace holdfast {
namespace {

using engine::NoLimit;

[[noreturn]] void fail(const engine::Core& core, const std::string& name, std::error_code error, std::string cause) {
  throw Error(static_cast<Errc>(error.value()), name, core.node(), std::move(cause));
}

bool not_granted(std::error_code error) {
  return error == Errc::busy || error == Errc::timed_out || error == Errc::cancelled;
}

/// The calling thread's hold. In a forked child there is none, and the site's mutex must not be touched.
engine::Site::ThreadHold own_hold(const engine::Core& core, const engine::Site& site) {
  return core.in_child() ? engine::Site::ThreadHold{} : site.find(base::this_thread_number());
}

}  // namespace

Lock::Lock(std::shared_ptr<engine::Core> core, std::shared_ptr<engine::Site> site, AcquireOptions defaults)
    : core_(std::move(core)),
      site_(std::move(site)),
      defaults_(std::make_shared<const AcquireOptions>(std::move(defaults))) {}

const std::string& Lock::name() const noexcept { return site_->name(); }

Hold Lock::acquire(const AcquireOptions& options) {
  engine::Acquired result = engine::acquire(core_, site_, options, NoLimit::wait_on);
  if (result.error) {
    const bool asked_once = result.error == Errc::busy;
    fail(*core_, name(), asked_once ? make_error_code(Errc::timed_out) : result.error, std::move(result.cause));
  }
  return Hold(std::move(result.held));
}

std::optional<Hold> Lock::try_acquire(const AcquireOptions& options) {
  engine::Acquired result = engine::acquire(core_, site_, options, NoLimit::ask_once);
  if (!result.error) return Hold(std::move(result.held));
  if (!not_granted(result.error)) fail(*core_, name(), result.error, std::move(result.cause));
  return std::nullopt;
}

std::optional<Hold> Lock::try_acquire(const AcquireOptions& options, std::error_code& ec) {
  try {
    engine::Acquired result = engine::acquire(core_, site_, options, NoLimit::ask_once);
    ec = result.error;
    if (!ec) return Hold(std::move(result.held));
  } catch (const Error& error) {
    ec = error.code();
  }
  return std::nullopt;
}

std::error_code Lock::enter(std::optional<std::chrono::milliseconds> wait) {
  core_->require_usable(name());
  const std::uint64_t thread = base::this_thread_number();
  const engine::Site::ThreadHold own = own_hold(*core_, *site_);
  if (own.count > 0) {
    if (own.held->valid_for() <= engine::Duration{}) {
      throw Error(Errc::lost, name(), core_->node(),
                  "this thread holds it, but has lost it; unlock before locking again");
    }
    site_->reenter(thread);
    return {};
  }
  AcquireOptions options = *defaults_;
  options.wait = wait;
  engine::Acquired result = engine::acquire(core_, site_, options, NoLimit::wait_on);
  if (!result.error) {
    site_->own(thread, std::move(result.held));
    return {};
  }
  if (not_granted(result.error)) return result.error;
  fail(*core_, name(), result.error, std::move(result.cause));
}

void Lock::lock() {
  const std::error_code error = enter(defaults_->wait);
  if (error) fail(*core_, name(), error == Errc::busy ? make_error_code(Errc::timed_out) : error, {});
}

bool Lock::try_lock() { return !enter(std::chrono::milliseconds{}); }

bool Lock::try_lock_within(std::chrono::milliseconds wait) { return !enter(wait); }

ReleaseOutcome Lock::release() {
  if (core_->in_child()) throw Error(Errc::forked, name(), core_->node(), {});
  const engine::Site::ThreadHold own = site_->leave_level(base::this_thread_number());
  if (own.count == 0) throw Error(Errc::not_owner, name(), core_->node(), "release by a thread that does not hold it");
  if (own.count > 1) {
    return own.held->valid_for() > engine::Duration{} ? ReleaseOutcome::still_held : ReleaseOutcome::was_lost;
  }
  return own.held->release();
}

void Lock::unlock() noexcept {
  try {
    release();
  } catch (...) {
    // Not the owner, or a forked child: a guard's destructor must not throw. release() tells.
  }
}

std::stop_token Lock::lost() const {
  const engine::Site::ThreadHold own = own_hold(*core_, *site_);
  return own.held ? own.held->stop_token() : std::stop_token{};
}

std::chrono::milliseconds Lock::valid_for() const {
  const engine::Site::ThreadHold own = own_hold(*core_, *site_);
  return own.held ? std::chrono::duration_cast<std::chrono::milliseconds>(own.held->valid_for())
                  : std::chrono::milliseconds{};
}

bool Lock::is_mine() const {
  const engine::Site::ThreadHold own = own_hold(*core_, *site_);
  return own.held && own.held->valid_for() > engine::Duration{};
}

int Lock::hold_count() const { return own_hold(*core_, *site_).count; }

bool Lock::is_locked() const {
  return core_->ask({wire::count_fields(site_->names().key)}, name()).front().integer > 0;
}

bool Lock::is_held_by(const std::string& owner) const {
  return core_->ask({wire::has_owner(site_->names().key, owner)}, name()).front().integer == 1;
}

std::optional<std::chrono::milliseconds> Lock::remaining() const {
  return wire::time_left(core_->ask({wire::remaining(site_->names().key)}, name()).front());
}

LockInfo Lock::info() const {
  const std::string& key = site_->names().key;
  const std::vector<base::Reply> replies = core_->ask({wire::holder(key), wire::remaining(key)}, name());
  const wire::Held held = wire::decode_holder(replies[0]);
  return {name(), held.owner, held.owner.empty() ? std::nullopt : wire::time_left(replies[1]), held.count};
}

bool Lock::force_release() { return core_->ask({wire::force_release(site_->names())}, name()).front().integer == 1; }

}  // namespace holdfast
