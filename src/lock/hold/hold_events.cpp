// SPDX-License-Identifier: Apache-2.0
#include "lock/hold/hold_events.hpp"

#include "lock/queue/target.hpp"
#include "lock/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

/// What an event has made of it.
void follow(Tenancy& tenancy, HoldFsm::Change change, const std::string& cause = {}) {
  if (change == HoldFsm::Change::lost) end_lost(tenancy, Claim::StopIn::signal_thread);
  if (change != HoldFsm::Change::suspect) return;
  Reporter& reporter = tenancy.runtime()->reporter();
  reporter.add(&Counters::suspect);
  reporter.tell(&Observer::on_suspect, [&] {
    return SuspectEvent{tenancy.target()->name(), tenancy.owner().text, cause, tenancy.valid_for(base::Clock::now())};
  });
}

}  // namespace

void end_lost(Tenancy& tenancy, Claim::StopIn where) noexcept {
  Target& target = *tenancy.target();
  target.forget(tenancy);
  target.disarm(tenancy);
  const LossReason reason = tenancy.reason();
  Reporter& reporter = tenancy.runtime()->reporter();
  while (const std::shared_ptr<Claim> claim = tenancy.take_claim()) {
    reporter.add(&Counters::lost);
    reporter.meter.on_lost(target.lock_class(), reason);
    measure_end(*claim, base::Clock::now());
    claim->stop(where);
    claim->tell_lost(target.name(), reason);
    reporter.tell(&Observer::on_lost, [&] { return LostEvent{target.name(), tenancy.owner().text, reason}; });
  }
}

Duration valid_for(Claim& claim) {
  const Claim::Look look = claim.look();
  if (look.found_lost) end_lost(claim.tenancy(), Claim::StopIn::this_thread);
  // Another thread may have found it lost, and its signal is still on its way: whoever sees zero must see the signal.
  if (look.lost) claim.stop(Claim::StopIn::this_thread);
  return look.left;
}

Claim& checked(Claim& claim) {
  valid_for(claim);
  return claim;
}

void measure_end(const Claim& claim, TimePoint now) noexcept {
  claim.runtime()->reporter().meter.on_hold_end(claim.target()->lock_class(), now - claim.granted_at());
}

HoldFsm::Todo on_time(Tenancy& tenancy, TimePoint now, Duration early) {
  const HoldFsm::Todo todo = tenancy.let(&HoldFsm::on_time, now, early);
  if (todo == HoldFsm::Todo::lost) end_lost(tenancy, Claim::StopIn::signal_thread);
  return todo;
}

void on_renewed(Tenancy& tenancy, TimePoint sent_at, TimePoint now, std::uint32_t acked_era) {
  follow(tenancy, tenancy.let(&HoldFsm::on_renewed, sent_at, now, acked_era));
}

void on_extended(Tenancy& tenancy, const HoldFsm::Extension& extension, TimePoint sent_at, TimePoint now,
                 std::uint32_t acked_era) {
  follow(tenancy, tenancy.let(&HoldFsm::on_extended, extension, sent_at, now, acked_era));
}

void on_shared(Tenancy& tenancy, const HoldFsm::Extension& extension, TimePoint sent_at, TimePoint now) {
  tenancy.on_no_longer_alone();
  on_extended(tenancy, extension, sent_at, now, 0);
  tenancy.set_shared(now);
}

bool on_gone(Tenancy& tenancy, TimePoint sent_at, TimePoint now) {
  if (!tenancy.is_as_asked(sent_at)) {
    on_unanswered(tenancy, now, "it was asked for as a writer's, and is becoming a reader's");
    return false;
  }
  follow(tenancy, tenancy.let(&HoldFsm::on_gone));
  return true;
}

void on_unanswered(Tenancy& tenancy, TimePoint now, const std::string& cause) {
  follow(tenancy, tenancy.let(&HoldFsm::on_unanswered, now), cause);
}

void on_moved(Tenancy& tenancy, TimePoint now) {
  follow(tenancy, tenancy.let(&HoldFsm::on_moved, now), "its slot is served by another server now");
}

void on_closed(Tenancy& tenancy) { follow(tenancy, tenancy.let(&HoldFsm::on_closed)); }

}  // namespace holdfast::engine
