// A table of the keys that are watched.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/hold/tenancy.hpp"
#include "redis/cluster/slot.hpp"

namespace holdfast::engine {

/// How many members of a group may still lose a hold that is not renewed. Shared by its keys. Null: it has one server.
using Spare = std::shared_ptr<std::atomic<int>>;

/// There may be millions of keys, so for nearly all the text is not kept: a key is found by its hash, and the target
/// knows its text. Of two keys with one hash both are found.
class WatchedKeys {
 public:
  /// Of an entry, as long as it is there.
  using Index = std::uint32_t;
  /// Which of the locks of the hold's own target; kNone: it is a lock of a group's member.
  using Which = std::uint16_t;
  static constexpr Which kNone = 0xffff;

  Index add(std::string key, std::uint16_t slot, const std::shared_ptr<Tenancy>& hold, Which which, Spare spare);
  void erase(Index index) noexcept;
  void clear();
  std::vector<Index> find(std::string_view key) const;
  std::vector<Index> all() const;
  std::vector<Index> in(const redis::cluster::SlotSet& slots) const;

  std::shared_ptr<Tenancy> hold(Index index) const { return entries_[index].hold.lock(); }
  /// `hold`: the one that this key is of.
  std::string key(Index index, const Tenancy& hold) const;
  Which which(Index index) const { return entries_[index].which; }
  Spare spare(Index index) const;
  /// From now on it is as if the key's hold had ended.
  void leave(Index index) { entries_[index].hold.reset(); }

 private:
  static constexpr Index kEnd = UINT32_MAX;
  struct Entry {
    std::weak_ptr<Tenancy> hold;
    std::uint32_t hash = 0;
    Index next = kEnd;  // in the same bucket, or among those that are free
    std::uint16_t slot = 0;
    Which which = kNone;
    bool used = false;
  };
  struct OfGroup {
    std::string key;
    Spare spare;
  };
  static std::uint32_t hash_of(std::string_view key);
  Index& bucket_of(std::uint32_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }
  void grow();

  std::deque<Entry> entries_;
  std::vector<Index> buckets_;  // a power of two of them, or none
  Index free_ = kEnd;
  std::size_t used_ = 0;
  std::unordered_map<Index, OfGroup> of_groups_;
};

}  // namespace holdfast::engine
