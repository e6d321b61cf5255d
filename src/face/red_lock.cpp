#include <holdfast/red_lock.hpp>

#include "face/compose.hpp"

namespace holdfast {

RedLock::RedLock(const std::vector<Lock>& members, AcquireOptions defaults)
    : BasicLock(face::majority_of(parts_of(members), std::move(defaults))) {}

RedLock::RedLock(const std::vector<SimpleLock>& members, AcquireOptions defaults)
    : BasicLock(face::majority_of(parts_of(members), std::move(defaults))) {}

RedLock::RedLock(const std::vector<MultiLock>& members, AcquireOptions defaults)
    : BasicLock(face::majority_of(parts_of(members), std::move(defaults))) {}

}  // namespace holdfast
