#include <holdfast/this_thread.hpp>

#include "engine/hold/hold_release.hpp"
#include "face/outcome.hpp"
#include "face/own_hold.hpp"
#include "face/parts.hpp"

namespace holdfast {

using engine::ThreadHolds;

bool ThisThread::is_holding() const {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held && own.held->valid_for() > engine::Duration{};
}

int ThisThread::hold_count() const { return face::own_hold(*parts_->target, parts_->ask.mode).count; }

bool ThisThread::is_lost() const {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held && own.held->loss_reason();
}

std::stop_token ThisThread::lost_token() const {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held ? own.held->stop_token() : std::stop_token{};
}

std::chrono::milliseconds ThisThread::valid_for() const {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held ? std::chrono::duration_cast<std::chrono::milliseconds>(own.held->valid_for())
                  : std::chrono::milliseconds{};
}

std::optional<std::int64_t> ThisThread::token() const {
  const ThreadHolds::Entry own = face::own_hold(*parts_->target, parts_->ask.mode);
  return own.held ? own.held->tenancy().token() : std::nullopt;
}

ReleaseOutcome ThisThread::release() const {
  const engine::Target& target = *parts_->target;
  if (target.runtime().in_child()) throw face::error_about(target, Errc::forked, {});
  std::optional<ReleaseOutcome> outcome;
  const ThreadHolds::Entry own =
      face::leave_level(*parts_, [&](engine::Claim& held) { outcome = engine::release(held); });
  if (own.count == 0) throw face::error_about(target, Errc::not_owner, "release by a thread that does not hold it");
  if (outcome) return *outcome;
  return own.held->valid_for() > engine::Duration{} ? ReleaseOutcome::still_held : ReleaseOutcome::was_lost;
}

}  // namespace holdfast
