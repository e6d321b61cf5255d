// A holder that has a lock alone goes on as one of several: a writer becomes a reader.
#pragma once

#include <functional>
#include <system_error>

namespace holdfast::engine {

class Claim;

/// Without a moment in which somebody else could have it alone. Waits for the server's answer, as long as the claim is
/// valid at most. Empty: it is shared. Else `lost`; `unknown_outcome`: the server has not answered, and the claim is
/// what it was, or lost with its next renewal; `closed` or `forked`. A guest's caller does not wait: `unknown_outcome`,
/// and it goes on.
std::error_code share(Claim& claim) noexcept;
/// The same without waiting. `done` is called once, on the loop.
void share_async(Claim& claim, std::function<void(std::error_code)> done);

}  // namespace holdfast::engine
