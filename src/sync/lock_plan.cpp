#include "sync/lock_plan.hpp"

namespace holdfast::sync {

const engine::Plan kLockPlan{wire::acquire, wire::decode_acquire, wire::release, wire::decode_release};

}  // namespace holdfast::sync
