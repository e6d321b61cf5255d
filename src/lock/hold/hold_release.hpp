// SPDX-License-Identifier: Apache-2.0
// The ways in which a holder gives a lock back: passed on inside the client, released, or left to its lease or to
// another process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <holdfast/error.hpp>

#include "kinds/owner.hpp"
#include "lock/decide/lease.hpp"
#include "lock/runtime/pending.hpp"

namespace holdfast::engine {

class Claim;
class Runtime;
class Target;
class Tenancy;

/// Gives it back and waits for the outcome, `release_timeout` at most. A guest's caller cannot wait: `unknown`, unless
/// it was passed on.
ReleaseOutcome release(Claim& hold) noexcept;
/// The end of a guard: as release(), or, if it is lost or the client is configured so, without waiting for the outcome.
void unlock(Claim& hold) noexcept;
/// The end of a guard that must not wait.
void unlock_without_waiting(Claim& hold) noexcept;
/// Leaves it to others of this client who share it, or retains it for one who waits: nothing is sent. Counts as a
/// release. False: there is nobody. From any thread.
bool pass_on(Claim& hold);
/// The same of what nobody holds (Traits::holds), such as somebody who waits for this, with this lease, asks for. It
/// counts as given back; who does not want it after all gives it back to the server.
bool pass_on(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, const LeaseTerms& lease,
             const wire::Ask& ask);
/// The outcome, if there is nothing to be sent: the client cannot be used, or it is passed on. Otherwise closing waits
/// for `pending`. From any thread.
std::optional<ReleaseOutcome> release_here(Claim& hold, Pending::Token& pending);
/// Gives it back in the background, or leaves it taken for `rest`. `done` is called once, on the loop; not if this
/// throws: then it has ended all the same, and its lease ends it at the server.
void release_async(Claim& hold, std::function<void(ReleaseOutcome)> done, std::chrono::milliseconds rest = {});
/// Ends it, and leaves it taken for `rest`; once, and to nobody of this client either. Waits as release() does.
ReleaseOutcome leave(Claim& hold, std::chrono::milliseconds rest) noexcept;
/// Ends it, and nobody here renews or releases it from then on; nothing is sent. False: it had been lost, or given
/// back.
bool detach(Claim& hold) noexcept;
/// Nobody is going to use it: gives it back if that can be had, and in any case it is not renewed any more.
void give_up(Claim& hold) noexcept;
/// It is over here, and stays as it is at the server: what was granted is not to be held.
void let_stand(Claim& hold) noexcept;
/// Its client is closed, or is closing and has perhaps not yet come to this claim's tenancy, which nobody may keep for
/// that from here on: it ends as close() ends it. Returns what is known of its release. From any thread.
ReleaseOutcome end_with_client(Claim& hold) noexcept;
/// What close() does with what is renewed or watched still, and only with that, whoever has claims on it. On the loop.
void end_at_close(Tenancy& tenancy) noexcept;
/// The same as give_up() of a tenancy, whoever has claims on it.
void give_up(Tenancy& tenancy) noexcept;
/// The same, of whoever has a claim on it; `done` is called on the loop. False: somebody else gives it back, or has.
bool give_up(Tenancy& tenancy, std::function<void(ReleaseOutcome)> done);

}  // namespace holdfast::engine
