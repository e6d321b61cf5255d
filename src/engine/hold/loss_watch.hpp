// Finds the losses that the server knows of first: watches the keys of holds that last.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/hold/key_watch.hpp"

namespace holdfast::engine {

/// Of one client, for each of its servers. Whether a doubt is a loss is decided by the server that takes the writes: by
/// a renewal at once or, where no more of them are to come, by the same question on the main lane. On the loop.
class LossWatch {
 public:
  explicit LossWatch(Runtime& runtime);

  /// Watches a key of a hold, which may be another client's. No effect if this client is not to watch.
  void watch(KeyWatch::Entry entry);
  /// About the lane that watches this server.
  void on_connected(redis::Shard& shard);
  void on_disconnected(redis::Shard& shard);
  void on_invalidated(redis::Shard& shard, const base::Reply& keys);
  /// About the server's main lane.
  void on_main(redis::Shard& shard, bool connected);
  /// Where keys of this server are watched, if renewals may go that way: see KeyWatch. Null: they use the main lane.
  KeyWatch* way_for_renewals(redis::Shard& shard);
  /// These slots are served by other shards now, which are to watch what lies there.
  void on_moved(const redis::cluster::SlotSet& slots);
  void stop();

 private:
  KeyWatch& of(redis::Shard& shard);
  void on_doubt(redis::Shard& shard, const Doubt& doubt);
  void ask(redis::Shard& shard, const Doubt& doubt);
  static void renew(const std::shared_ptr<Tenancy>& hold);

  Runtime& runtime_;
  std::map<redis::Shard*, KeyWatch> by_shard_;
  bool stopped_ = false;
};

}  // namespace holdfast::engine
