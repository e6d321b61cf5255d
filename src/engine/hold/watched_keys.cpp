#include "engine/hold/watched_keys.hpp"

#include <functional>
#include <utility>

#include "engine/hold/acquirable.hpp"

namespace holdfast::engine {

namespace {

constexpr std::size_t kFewestBuckets = 64;

}  // namespace

std::uint32_t WatchedKeys::hash_of(std::string_view key) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(key));
}

WatchedKeys::Index WatchedKeys::add(std::string key, std::uint16_t slot, const std::shared_ptr<Tenancy>& hold,
                                    Which which, Spare spare) {
  if (used_ >= buckets_.size()) grow();
  const bool is_new = free_ == kEnd;
  const Index index = is_new ? static_cast<Index>(entries_.size()) : free_;
  const std::uint32_t hash = hash_of(key);
  if (is_new) entries_.emplace_back();
  if (which == kNone) {
    try {
      of_groups_.insert_or_assign(index, OfGroup{std::move(key), std::move(spare)});
    } catch (...) {
      if (is_new) entries_.pop_back();
      throw;
    }
  }
  Entry& entry = entries_[index];
  if (!is_new) free_ = entry.next;
  entry = {hold, hash, std::exchange(bucket_of(hash), index), slot, which, true};
  ++used_;
  return index;
}

void WatchedKeys::grow() {
  std::vector<Index> more(buckets_.empty() ? kFewestBuckets : 2 * buckets_.size(), kEnd);
  buckets_.swap(more);
  for (Index index = 0; index < entries_.size(); ++index) {
    Entry& entry = entries_[index];
    if (entry.used) entry.next = std::exchange(bucket_of(entry.hash), index);
  }
}

void WatchedKeys::erase(Index index) noexcept {
  Entry& entry = entries_[index];
  Index* link = &bucket_of(entry.hash);
  while (*link != index) link = &entries_[*link].next;
  *link = entry.next;
  if (entry.which == kNone) of_groups_.erase(index);
  entry = {};
  entry.next = std::exchange(free_, index);
  --used_;
}

void WatchedKeys::clear() { *this = {}; }

std::vector<WatchedKeys::Index> WatchedKeys::find(std::string_view key) const {
  std::vector<Index> found;
  if (buckets_.empty()) return found;
  const std::uint32_t hash = hash_of(key);
  for (Index index = buckets_[hash & (buckets_.size() - 1)]; index != kEnd; index = entries_[index].next) {
    if (entries_[index].hash == hash) found.push_back(index);
  }
  return found;
}

std::vector<WatchedKeys::Index> WatchedKeys::all() const {
  redis::cluster::SlotSet any;
  any.set();
  return in(any);
}

std::vector<WatchedKeys::Index> WatchedKeys::in(const redis::cluster::SlotSet& slots) const {
  std::vector<Index> found;
  for (Index index = 0; const Entry& entry : entries_) {
    if (entry.used && slots[entry.slot]) found.push_back(index);
    ++index;
  }
  return found;
}

std::string WatchedKeys::key(Index index, const Tenancy& hold) const {
  const Which which = entries_[index].which;
  return which == kNone ? of_groups_.at(index).key : hold.target()->watched_key(which);
}

Spare WatchedKeys::spare(Index index) const {
  const auto found = of_groups_.find(index);
  return found == of_groups_.end() ? nullptr : found->second.spare;
}

}  // namespace holdfast::engine
