// Acquires, and waits for the outcome: the blocking face of AcquireOp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <holdfast/options.hpp>

#include "engine/hold/claim.hpp"
#include "engine/hold/target.hpp"
#include "engine/runtime/reporter.hpp"

namespace holdfast::engine {

class Runtime;

struct Acquired {
  std::shared_ptr<Claim> held;  // set: granted
  std::error_code error;        // else: why not
  std::string cause;
};

/// What an acquire does if the options do not say how long to wait: ask once, or wait without limit.
enum class DefaultWait { ask_once, wait_on };

/// All lengths decided; throws Error(invalid_argument) if one is out of range.
LeaseTerms lease_terms(const Runtime& runtime, const AcquireOptions& options, const std::string& name);

/// What a grant has taken, as GrantedEvent has it.
struct Took {
  Duration waited{};
  bool contended = false;
  Duration waiting{}, since_woken{};
};
void report_granted(Reporter& reporter, const Claim& held, const Took& took);

/// What is known without asking for it: the client cannot be used, the wait is stopped already, or a caller of this
/// client has just released it. No round trip.
std::optional<Acquired> acquire_at_once(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target,
                                        const AcquireOptions& options, const LeaseTerms& lease, const wire::Ask& ask);

/// Throws Error(invalid_argument) for options out of range, Error(would_deadlock) on a guest's loop; every other
/// failure is in the result.
Acquired acquire(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target,
                 const AcquireOptions& options, DefaultWait default_wait, const wire::Ask& ask = {});

}  // namespace holdfast::engine
