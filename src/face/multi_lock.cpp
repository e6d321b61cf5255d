#include <holdfast/multi_lock.hpp>

#include "face/compose.hpp"

namespace holdfast {

MultiLock::MultiLock(const std::vector<Lock>& members, AcquireOptions defaults)
    : BasicLock(face::all_of(parts_of(members), std::move(defaults))) {}

MultiLock::MultiLock(const std::vector<SimpleLock>& members, AcquireOptions defaults)
    : BasicLock(face::all_of(parts_of(members), std::move(defaults))) {}

}  // namespace holdfast
