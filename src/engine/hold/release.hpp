// Carries out a release on the loop until its outcome is known, or a waiter's leave: the shell around ReleaseFsm.
#pragma once

#include <functional>
#include <memory>

#include "engine/decide/release_fsm.hpp"
#include "engine/hold/wire_target.hpp"

namespace holdfast::engine {

/// Starts at once (the first send is queued before this returns, so a later acquire of the same client goes behind it).
/// `done` is called once, on the loop.
void start_return(const std::shared_ptr<WireTarget>& target, WireTarget::Returned what, const wire::Owner& owner,
                  ReleaseFsm fsm, ReleaseDone done);

}  // namespace holdfast::engine
