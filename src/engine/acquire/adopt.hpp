// Takes up a hold that another process, or this one, has detached.
#pragma once

#include <functional>
#include <memory>

#include "engine/acquire/acquire.hpp"

namespace holdfast::engine {

/// Asks the server, by a renewal to the lease of these terms, whether this owner has the lock; `grant` says who, and
/// the token that was granted. Waits for the answer. Without one, the lease at the server is what it was, or renewed.
/// Errors: `lost`, `unknown_outcome`, `exhausted`; throws Error(would_deadlock) on a guest's loop.
Acquired adopt(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
               const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost);
/// The same without waiting. `done` is called once, on the loop; at once, in the caller, if the client is closed.
void adopt_async(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
                 const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost,
                 std::function<void(Acquired)> done);

}  // namespace holdfast::engine
