// SPDX-License-Identifier: Apache-2.0
// What happens to a tenancy, and what follows for its claims, its queue, the watchdog and the observer, whoever finds
// it: a caller who looks at the clock, the loop, or the signal thread.
#pragma once

#include <cstdint>
#include <string>

#include "lock/decide/hold_fsm.hpp"
#include "lock/queue/tenancy.hpp"

namespace holdfast::engine {

/// The end of every tenancy that is lost, once and without any mutex: nobody here waits for it or renews it any more,
/// and all who have a claim on it are notified. `where`: the caller chooses where stop callbacks run.
void end_lost(Tenancy& tenancy, Claim::StopIn where) noexcept;

/// How long it is certainly ours. If its time is over it is lost from here on, and its stop token is stopped, whether
/// or not a thread of this client has noticed that yet: then zero. From any thread.
Duration valid_for(Claim& claim);
/// The claim, after such a look at the clock.
Claim& checked(Claim& claim);
/// It has just ended, by a release or a loss: measures how long it lasted.
void measure_end(const Claim& claim, TimePoint now) noexcept;

// Of a tenancy, on the loop: see HoldFsm.
HoldFsm::Todo on_time(Tenancy& tenancy, TimePoint now, Duration early);
void on_renewed(Tenancy& tenancy, TimePoint sent_at, TimePoint now, std::uint32_t acked_era);
void on_extended(Tenancy& tenancy, const HoldFsm::Extension& extension, TimePoint sent_at, TimePoint now,
                 std::uint32_t acked_era);
/// Its owner has it together with others from now on, with the lease of the extension that this is.
void on_shared(Tenancy& tenancy, const HoldFsm::Extension& extension, TimePoint sent_at, TimePoint now);
/// False: the answer says nothing (Tenancy::is_as_asked), and the question is to be repeated.
bool on_gone(Tenancy& tenancy, TimePoint sent_at, TimePoint now);
void on_unanswered(Tenancy& tenancy, TimePoint now, const std::string& cause);
void on_moved(Tenancy& tenancy, TimePoint now);
void on_closed(Tenancy& tenancy);

}  // namespace holdfast::engine
