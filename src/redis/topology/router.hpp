// Which server a request goes to.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "redis/topology/shard.hpp"

namespace holdfast::redis {

/// All that a client knows of the shape of its servers. On the loop, unless it says otherwise.
class Router {
 public:
  Router() = default;
  virtual ~Router() = default;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// The shard that serves this key (`Request::key`); without a key, any, but always the same. From any thread.
  virtual Shard& shard_of(std::string_view key) = 0;
  /// From any thread.
  virtual std::span<Shard* const> shards() const = 0;

  /// To the shard that serves the request's key.
  void send(Request&& request, Lane::Handler&& handler);

  // For all shards: as those of `Lane`.
  virtual void start(const std::weak_ptr<void>& owner);
  virtual void flush();
  virtual void recover();
  virtual void close();
  virtual void drop_all();
  /// Of the only shard; -1 if there are several, of which nobody can watch some alone.
  std::array<int, 2> sockets() const;
};

}  // namespace holdfast::redis
