#include "engine/hold/thread_holds.hpp"

namespace holdfast::engine {

ThreadHolds::Entry ThreadHolds::find(std::uint64_t thread) const {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(thread);
  return found == entries_.end() ? Entry{} : found->second;
}

void ThreadHolds::own(std::uint64_t thread, std::shared_ptr<HeldLock> held) {
  const base::Guard guard(mutex_);
  entries_[thread] = {std::move(held), 1};
}

void ThreadHolds::reenter(std::uint64_t thread) {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(thread);
  if (found != entries_.end()) ++found->second.count;
}

ThreadHolds::Entry ThreadHolds::leave_level(std::uint64_t thread) {
  const base::Guard guard(mutex_);
  const auto found = entries_.find(thread);
  if (found == entries_.end()) return {};
  Entry before = found->second;
  if (--found->second.count == 0) entries_.erase(found);
  return before;
}

void ThreadHolds::forget_all() {
  std::map<std::uint64_t, Entry> forgotten;  // destroyed without the mutex
  const base::Guard guard(mutex_);
  forgotten.swap(entries_);
}

}  // namespace holdfast::engine
