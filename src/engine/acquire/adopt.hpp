// Takes over a hold that another process, or this one, has detached.
#pragma once

#include <functional>
#include <memory>

#include "engine/acquire/acquire.hpp"

namespace holdfast::engine {

/// Asks the server, by a renewal to the lease of these terms, whether the owner in `grant` has the lock, and waits for
/// the answer. `grant` also has the token. Without an answer, the lease at the server is unchanged or renewed.
/// Errors: `lost`, `unknown_outcome`, `exhausted`; throws Error(would_deadlock) on a guest's loop.
Acquired adopt(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
               const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost);
/// The same without waiting. `done` is called once, on the loop; if the client is closed, at once in the calling
/// thread.
void adopt_async(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, wire::Grant grant,
                 const LeaseTerms& lease, const std::function<void(const LostEvent&)>& on_lost,
                 std::function<void(Acquired)> done);

}  // namespace holdfast::engine
