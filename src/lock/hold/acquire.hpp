// SPDX-License-Identifier: Apache-2.0
// Acquires or adopts, and waits for the outcome: the blocking form of AcquireOp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <holdfast/options.hpp>

#include "lock/queue/target.hpp"
#include "lock/runtime/reporter.hpp"

namespace holdfast::engine {

class Runtime;

struct Acquired {
  std::shared_ptr<Claim> held;  // set: granted
  std::error_code error;        // otherwise: why not
  std::string cause;
  std::optional<bool> may_pass{};  // see Error::may_pass; empty: as usual for `error`
};

/// What an acquire without a time limit in its options does: ask once, or wait without limit.
enum class DefaultWait { ask_once, wait_on };

/// The terms, with defaults filled in. Throws Error(invalid_argument) if one is out of range.
LeaseTerms lease_terms(const Runtime& runtime, const AcquireOptions& options, const std::string& name);

/// How a grant came about: the data of GrantedEvent.
struct Took {
  Duration waited{};
  bool contended = false;
  Duration waiting{}, since_woken{};
};
void report_granted(Reporter& reporter, const Claim& held, const Took& took);

/// The result, if it is known without a round trip: the client cannot be used, the wait is already stopped, or another
/// caller of this client shares the lock or has just released it.
std::optional<Acquired> acquire_at_once(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target,
                                        const AcquireOptions& options, const LeaseTerms& lease, const wire::Ask& ask);

/// Throws Error(invalid_argument) for options out of range, Error(would_deadlock) on a guest's loop; other failures are
/// in the result.
Acquired acquire(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target,
                 const AcquireOptions& options, DefaultWait default_wait, const wire::Ask& ask = {});

/// Takes over a hold that another process, or this one, has detached. Asks the server, by a renewal to the lease of
/// these terms, whether the owner in `grant` has the lock, and waits for the answer. `grant` also has the token.
/// Without an answer, the lease at the server is unchanged or renewed. Errors: `lost`, `unknown_outcome`, `exhausted`;
/// throws Error(would_deadlock) on a guest's loop.
Acquired adopt(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
               const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost);
/// The same without waiting. `done` is called once, on the loop; if the client is closed, at once in the calling
/// thread.
void adopt_async(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
                 const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost,
                 std::function<void(Acquired)> done);

}  // namespace holdfast::engine
