// SPDX-License-Identifier: Apache-2.0
#include "face/counting.hpp"

#include <algorithm>
#include <stdexcept>

#include <holdfast/error.hpp>
#include <holdfast/semaphore.hpp>

#include "face/parts.hpp"
#include "kinds/latch.hpp"
#include "kinds/leased_semaphore.hpp"
#include "kinds/semaphore.hpp"
#include "lock/hold/hold_release.hpp"

namespace holdfast::face {
namespace {

using detail::Counting;

/// Redisson's numbers are Java's int.
constexpr std::int64_t kMost = 2'147'483'647;

[[noreturn]] void refuse(const engine::KeyTarget& target, std::int64_t number, const char* what, std::int64_t least) {
  throw error_about(target, Errc::invalid_argument,
                    std::to_string(number) + " " + what + "; it must be from " + std::to_string(least) + " to " +
                        std::to_string(kMost));
}

void require_number(const engine::KeyTarget& target, Counting what, std::int64_t number) {
  std::int64_t least = 0;
  const char* name = "permits";
  switch (what) {
    case Counting::add:
    case Counting::add_leased:
      least = -kMost;
      name = "permits more";
      break;
    case Counting::release:
      least = 1;
      name = "permits given back";
      break;
    case Counting::set_total:
      name = "permits in all";
      break;
    case Counting::init_latch:
    case Counting::count_down:
      least = 1;
      name = "steps";
      break;
    default:
      break;
  }
  if (number < least || number > kMost) refuse(target, number, name, least);
}

/// An id for the operation, and how long the server keeps it: as long as the operation may be resent.
wire::Once once(engine::Runtime& runtime, const char* operation) {
  const Config& config = runtime.config();
  return {runtime.make_owner().text + ":" + operation,
          engine::repeated_for(config.timing.patience, config.timing.command_timeout)};
}

base::Command command(const engine::KeyTarget& target, Counting what, std::int64_t number,
                      std::optional<std::chrono::milliseconds> lives) {
  namespace semaphore = wire::semaphore;
  namespace latch = wire::latch;
  engine::Runtime& runtime = target.runtime();
  const wire::LockNames names = target.names();
  const Publish publish = target.publish();
  switch (what) {
    case Counting::init:
      return semaphore::set({names, number, once(runtime, "set"), publish}, lives);
    case Counting::add:
      return semaphore::add({names, number, once(runtime, "add"), publish});
    case Counting::release:
      return semaphore::add_if_there({names, number, once(runtime, "release"), publish});
    case Counting::drain:
      return semaphore::drain(names, once(runtime, "drain"));
    case Counting::available:
      return semaphore::available(names.key);
    case Counting::remove:
      return semaphore::remove(names, once(runtime, "remove"), publish);
    case Counting::init_leased:
      return wire::permits::set({names, number, once(runtime, "set"), publish}, lives);
    case Counting::add_leased:
      return wire::permits::add({names, number, once(runtime, "add"), publish});
    case Counting::set_total:
      return wire::permits::set_total({names, number, once(runtime, "set_total"), publish}, lives);
    case Counting::available_leased:
      return wire::permits::look(names, 0, publish);
    case Counting::remove_leased:
      return wire::permits::remove(names, once(runtime, "remove"), publish);
    case Counting::init_latch:
      return latch::set({names, number, once(runtime, "set"), publish});
    case Counting::count_down:
      return latch::count_down({names, number, once(runtime, "count_down"), publish});
    case Counting::count:
      return latch::count(names.key);
    case Counting::remove_latch:
      break;
  }
  return latch::remove({names, once(runtime, "remove"), publish});
}

/// Empty: the reply is invalid.
std::optional<std::int64_t> decode(Counting what, const base::Reply& reply) {
  switch (what) {
    case Counting::release:
      if (reply.is_null()) return 0;
      return wire::decode_release(reply) ? std::optional<std::int64_t>(1) : std::nullopt;
    case Counting::available:
      return wire::semaphore::decode_available(reply);
    case Counting::available_leased:
      if (reply.is_null()) return 0;
      if (const auto seen = wire::permits::decode_look(reply)) return seen->available;
      return std::nullopt;
    case Counting::count:
      return wire::latch::decode_count(reply);
    default:
      return wire::semaphore::decode_number(reply);
  }
}

void require_life(const engine::KeyTarget& target, std::chrono::milliseconds lives) {
  if (lives.count() > 0 && lives <= engine::kLongestLease) return;
  throw error_about(target, Errc::invalid_argument,
                    "a time to live of " + std::to_string(lives.count()) + " ms; it must be above 0, up to 10 years");
}

engine::Acquired ask_to_pass(const detail::Parts& parts, std::optional<std::chrono::milliseconds> wait,
                             std::stop_token stop, engine::DefaultWait default_wait, const wire::Ask& ask) {
  return engine::acquire(parts.runtime, parts.target, waiting(parts, wait, std::move(stop)), default_wait, ask);
}

}  // namespace

bool pass_on(const detail::Parts& parts, std::int64_t permits) {
  if (permits < 1 || permits > kMost || parts.runtime->in_child()) return false;
  const engine::LeaseTerms lease =
      engine::lease_terms(*parts.runtime, waiting(parts, std::nullopt, {}), parts.target->name());
  return engine::pass_on(parts.runtime, parts.target, lease, permits_of(parts, permits));
}

template <class Result>
Question<Result> counting(const engine::KeyTarget& target, Counting what, std::int64_t number,
                          std::optional<std::chrono::milliseconds> lives) {
  require_number(target, what, number);
  if (lives) require_life(target, *lives);
  return {.name = target.name(),
          .commands = {command(target, what, number, lives)},
          .decode =
              [what](const std::vector<base::Reply>& replies) {
                const std::optional<std::int64_t> result = decode(what, replies.front());
                if (!result) throw std::runtime_error("it is no number");
                return static_cast<Result>(*result);
              },
          .tells = changes(what) ? target.sharded_channels() : std::vector<std::string>(),
          .repeated = changes(what) ? base::Duration(target.runtime().config().timing.patience) : base::Duration()};
}

template Question<bool> counting(const engine::KeyTarget&, Counting, std::int64_t,
                                 std::optional<std::chrono::milliseconds>);
template Question<std::int64_t> counting(const engine::KeyTarget&, Counting, std::int64_t,
                                         std::optional<std::chrono::milliseconds>);

AcquireOptions waiting(const detail::Parts& parts, std::optional<std::chrono::milliseconds> wait,
                       std::stop_token stop) {
  const Config& config = parts.runtime->config();
  AcquireOptions options;
  options.wait = wait;
  options.lease = renewed(engine::undone_for(config.timing.patience, config.timing.command_timeout));
  options.acks = Acks::none();
  options.stop = std::move(stop);
  return options;
}

wire::Ask permits_of(const detail::Parts& parts, std::int64_t permits) {
  if (permits < 1 || permits > kMost) refuse(key_target(parts), permits, "permits at once", 1);
  return {.mode = wire::Mode::exclusive, .permits = static_cast<std::uint32_t>(permits)};
}

bool pass_in_time(const detail::Parts& parts, std::optional<std::chrono::milliseconds> wait, std::stop_token stop,
                  const wire::Ask& ask) {
  engine::Acquired passed = ask_to_pass(parts, wait, std::move(stop), engine::DefaultWait::ask_once, ask);
  if (passed.error && !not_granted(passed.error)) {
    throw error_about(*parts.target, std::move(passed));
  }
  return !passed.error;
}

void pass(const detail::Parts& parts, std::stop_token stop, const wire::Ask& ask) {
  engine::Acquired passed = ask_to_pass(parts, {}, std::move(stop), engine::DefaultWait::wait_on, ask);
  if (passed.error) throw error_about(*parts.target, std::move(passed));
}

}  // namespace holdfast::face

namespace holdfast {

using detail::Counting;

const std::string& Semaphore::name() const noexcept { return parts_->target->name(); }

void Semaphore::acquire(std::int64_t permits, std::stop_token stop) const {
  face::pass(*parts_, std::move(stop), face::permits_of(*parts_, permits));
}

bool Semaphore::try_acquire(std::int64_t permits) const {
  return face::pass_in_time(*parts_, {}, {}, face::permits_of(*parts_, permits));
}

bool Semaphore::acquire_within(std::chrono::milliseconds wait, std::int64_t permits, std::stop_token stop) const {
  return face::pass_in_time(*parts_, wait, std::move(stop), face::permits_of(*parts_, permits));
}

bool Semaphore::release(std::int64_t permits) const {
  return face::pass_on(*parts_, permits) || face::count(*parts_, Counting::release, permits) == 1;
}

bool Semaphore::init(std::int64_t permits) const { return face::count(*parts_, Counting::init, permits) == 1; }

bool Semaphore::init(std::int64_t permits, std::chrono::milliseconds lives) const {
  return face::count(*parts_, Counting::init, permits, lives) == 1;
}

std::int64_t Semaphore::add(std::int64_t permits) const { return face::count(*parts_, Counting::add, permits); }
bool Semaphore::remove() const { return face::count(*parts_, Counting::remove) == 1; }
std::int64_t Semaphore::drain() const { return face::count(*parts_, Counting::drain); }
std::int64_t Semaphore::available() const { return face::count(*parts_, Counting::available); }

static_assert(LeasedSemaphore::kMostPermits == wire::permits::kMostPermits);

using detail::Counting;

LeasedSemaphore LeasedSemaphore::with_permits(std::int64_t permits) const {
  if (permits < 1 || permits > kMostPermits) {
    throw face::error_about(
        *parts()->target, Errc::invalid_argument,
        std::to_string(permits) + " permits at once; it must be from 1 to " + std::to_string(kMostPermits));
  }
  return LeasedSemaphore(
      face::make_parts(*parts(), {}, {.mode = wire::Mode::exclusive, .permits = static_cast<std::uint32_t>(permits)}));
}

std::int64_t LeasedSemaphore::available() const { return face::count(*parts(), Counting::available_leased); }
bool LeasedSemaphore::init(std::int64_t permits) const {
  return face::count(*parts(), Counting::init_leased, permits) == 1;
}
std::int64_t LeasedSemaphore::set_total(std::int64_t permits) const {
  return face::count(*parts(), Counting::set_total, permits);
}
bool LeasedSemaphore::init(std::int64_t permits, std::chrono::milliseconds lives) const {
  return face::count(*parts(), Counting::init_leased, permits, lives) == 1;
}
std::int64_t LeasedSemaphore::set_total(std::int64_t permits, std::chrono::milliseconds lives) const {
  return face::count(*parts(), Counting::set_total, permits, lives);
}
std::int64_t LeasedSemaphore::add(std::int64_t permits) const {
  return face::count(*parts(), Counting::add_leased, permits);
}
bool LeasedSemaphore::remove() const { return face::count(*parts(), Counting::remove_leased) == 1; }

using detail::Counting;

const std::string& Latch::name() const noexcept { return parts_->target->name(); }

bool Latch::init(std::int64_t steps) const { return face::count(*parts_, Counting::init_latch, steps) == 1; }

std::int64_t Latch::count_down(std::int64_t steps) const { return face::count(*parts_, Counting::count_down, steps); }

std::int64_t Latch::count() const { return face::count(*parts_, Counting::count); }

bool Latch::remove() const { return face::count(*parts_, Counting::remove_latch) == 1; }

void Latch::wait(std::stop_token stop) const { face::pass(*parts_, std::move(stop), {}); }

bool Latch::wait_within(std::chrono::milliseconds wait, std::stop_token stop) const {
  return face::pass_in_time(*parts_, wait, std::move(stop), {});
}

void Latch::arrive_and_wait(std::int64_t steps, std::stop_token stop) const {
  if (count_down(steps) > 0) wait(std::move(stop));
}

}  // namespace holdfast
