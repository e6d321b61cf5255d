// Which of its servers a client is connected to, for those who look from outside.
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
  /// The server that is this shard's now, in words. Without memory for that it stays as it was.
  void set(const redis::Shard* shard, std::string node, bool connected) noexcept;
  /// The shard's server is of no use any more.
  void drop(const redis::Shard* shard) noexcept;

  /// Each of those to which there has been a connection, or an attempt.
  std::vector<std::pair<std::string, bool>> all() const;

 private:
  mutable base::Mutex mutex_;
  std::map<const redis::Shard*, std::pair<std::string, bool>> links_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engine
