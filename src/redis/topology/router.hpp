// Which server a request goes to.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "redis/topology/shard.hpp"

namespace holdfast::redis {

/// All that a client knows of the shape of its servers. On the loop, unless it says otherwise.
class Router {
 public:
  Router() = default;
  virtual ~Router() = default;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// The shard that serves this key (`Request::key`), as far as is known at this moment; without a key, any. From any
  /// thread.
  virtual Shard& shard_of(std::string_view key) = 0;
  /// The only shard that there ever is; null: there are several, or will be. From any thread.
  virtual Shard* only_shard() const { return nullptr; }
  /// Those that there are. With only_shard(), always that one.
  virtual std::span<Shard* const> shards() const = 0;
  /// Keys of the same slot may be in one command; they are always served by the same shard. From any thread.
  virtual std::uint16_t slot_of(std::string_view) const { return 0; }
  /// As shard_of(), for keys of this slot.
  virtual Shard& shard_of_slot(std::uint16_t) { return *only_shard(); }
  /// Those that serve slots: the only one, or a cluster's primaries as far as the map is known, each once. From any
  /// thread.
  std::vector<Shard*> serving();
  /// Which server this is, or which cluster: the same for two routers of the same, else another one; or kNameless; 0:
  /// not known, or not asked for yet (see Shard::server). From any thread.
  virtual std::uint64_t server() const { return only_shard()->server(); }
  /// The shard at this address of a cluster, whatever it serves; null: there can be none, or no more. On the loop.
  virtual Shard* shard_at(const NodeAddress&) { return nullptr; }
  struct Way {
    Shard* shard = nullptr;
    bool asking = false;  // ASKING goes before each command
  };
  /// Where a command for this slot goes next that a server has answered with a redirect, and for which `asked` says
  /// that ASKING went before it. A node to which the slot is on its way is asked once; else the map, which has heard of
  /// the redirect, knows whom to ask. On the loop.
  Way way_after(std::string_view redirect, std::uint16_t slot, bool asked);
  /// How releases are told; `automatic`: that is not decided yet. From any thread.
  virtual Publish publish() const { return Publish::publish; }

  /// To the shard that serves the request's key.
  virtual void send(Request&& request, Lane::Handler&& handler);

  // For all shards: as those of `Lane`.
  virtual void start(const std::weak_ptr<void>& owner);
  virtual void flush();
  virtual void recover();
  virtual void close();
  virtual void drop_all();
  /// Of the only shard; -1 if there are several, of which nobody can watch some alone.
  virtual std::array<int, 2> sockets() const;
};

}  // namespace holdfast::redis
