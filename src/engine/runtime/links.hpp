// Which servers a client is connected to, for monitoring.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.hpp"

namespace holdfast::redis {
class Shard;
}  // namespace holdfast::redis

namespace holdfast::engine {

/// Thread-safe.
class Links {
 public:
  /// Sets the shard's current server, as text. Keeps the old one if memory runs out.
  void set(const redis::Shard* shard, std::string node, bool connected) noexcept;
  /// The shard's server is no longer used.
  void drop(const redis::Shard* shard) noexcept;

  /// Each server to which there was a connection or an attempt.
  std::vector<std::pair<std::string, bool>> all() const;

 private:
  mutable base::Mutex mutex_;
  std::map<const redis::Shard*, std::pair<std::string, bool>> links_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engine
