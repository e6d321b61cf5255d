// The part of KeyTarget that is for holds that want acks.
#include "engine/hold/confirmations.hpp"
#include "engine/hold/key_target.hpp"
#include "engine/hold/renewal_reply.hpp"
#include "engine/hold/tenancy.hpp"
#include "engine/hold/watchdog.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {

std::uint32_t KeyTarget::acks_era() const { return watchdog().confirmations().era(slot()); }

void KeyTarget::confirm(Attempt granted, Acks acks, milliseconds lease, TimePoint until, AttemptDone done) {
  std::vector<wire::Renewal> renewals;
  this->granted(granted.grant)->add_renewals(renewals, granted.grant.owner);
  Confirm confirm = watchdog().confirmations().confirm_of(
      std::move(renewals), plan(), slot(), granted.grant.lease.value_or(lease), until - base::Clock::now());
  confirm.done = [self = shared_from_this(), granted = std::move(granted), done = std::move(done)](
                     const Confirmed& confirmed) { done(as_confirmed(granted, confirmed, self->acks_era())); };
  watchdog().confirmations().ask(shard(), acks, std::move(confirm));
}

void KeyTarget::renew_with_acks(Acks acks, milliseconds lease, std::vector<wire::Renewal> renewals, RenewDone done) {
  if (runtime().unusable()) return done({Renewed::Kind::unanswered, {}, "its client is closed"});
  runtime().hand_over([self = self(), keep = runtime().keep_alive(), renewals = std::move(renewals), acks, lease,
                       done = std::move(done)]() mutable {
    Confirmations& confirmations = self->watchdog().confirmations();
    Confirm confirm = confirmations.confirm_of(std::move(renewals), self->plan(), self->slot(), lease);
    confirm.done = [done = std::move(done)](const Confirmed& confirmed) { done(as_renewed(confirmed)); };
    confirmations.ask(self->shard(), acks, std::move(confirm));
  });
}

}  // namespace holdfast::engine
