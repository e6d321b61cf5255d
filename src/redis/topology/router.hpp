// SPDX-License-Identifier: Apache-2.0
// Which server a request goes to.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>

#include "loop/alarm.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::redis {

/// What a client knows about the shape of its servers. Use on the loop, unless stated otherwise.
class Router {
 public:
  Router() = default;
  virtual ~Router() = default;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// The shard that serves this key (`Request::key`), as far as currently known; without a key, any. From any thread.
  virtual Shard& shard_of(std::string_view key) = 0;
  /// The shard, if there will only ever be one; null: there are or may be several. From any thread.
  virtual Shard* only_shard() const { return nullptr; }
  /// All shards. With only_shard(), always that one.
  virtual std::span<Shard* const> shards() const = 0;
  /// Keys of the same slot may be in one command; they are always served by the same shard. From any thread.
  virtual std::uint16_t slot_of(std::string_view) const { return 0; }
  /// As shard_of(), for keys of this slot.
  virtual Shard& shard_of_slot(std::uint16_t) { return *only_shard(); }
  /// The shards that serve slots: the only one, or a cluster's primaries as far as the map is known, each once. From
  /// any thread.
  std::vector<Shard*> serving();
  /// Identifies the server or cluster: equal for two routers of the same one, otherwise different; or kNameless; 0:
  /// unknown, or not queried yet (see Shard::server). From any thread.
  virtual std::uint64_t server() const { return only_shard()->server(); }
  /// A cluster's shard at this address, with or without slots; null: not a cluster, or too many nodes. On the loop.
  virtual Shard* shard_at(const NodeAddress&) { return nullptr; }
  struct Way {
    Shard* shard = nullptr;
    bool asking = false;  // ASKING goes before each command
  };
  /// Where to send a command for this slot after a redirect; `asked` says whether it was sent with ASKING. A node that
  /// the slot is moving to is asked once; otherwise the map, which has been updated by the redirect, knows the node. On
  /// the loop.
  Way way_after(std::string_view redirect, std::uint16_t slot, bool asked);
  /// How releases are published; `automatic`: not decided yet. From any thread.
  virtual Publish publish() const { return Publish::publish; }

  /// To the shard that serves the request's key.
  virtual void send(Request&& request, Lane::Handler&& handler);

  // For all shards: as those of `Lane`.
  virtual void start(const std::weak_ptr<void>& owner);
  virtual void flush();
  virtual void recover();
  virtual void close();
  virtual void drop_all();
  /// Those of the only shard; -1 if there are several, which cannot be watched separately.
  virtual std::array<int, 2> sockets() const;
};

/// For the shape of servers in this configuration. Throws Error(tls).
std::unique_ptr<Router> make_router(timing::Schedule& schedule, const Config& config,
                                    std::shared_ptr<Listeners> listeners, ServerEvents& events);

/// The simplest shape: one server, at the configured address or one of the alternatives. It serves every key.
class OneServer final : public Router {
 public:
  OneServer(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners,
            ServerEvents& events)
      : shard_(
            schedule, config, [config] { return std::make_shared<ConfiguredEndpoint>(config); }, std::move(listeners),
            events) {}

  Shard& shard_of(std::string_view) override { return shard_; }
  Shard* only_shard() const override { return all_[0]; }
  std::span<Shard* const> shards() const override { return all_; }

 private:
  Shard shard_;
  Shard* const all_[1] = {&shard_};
};

}  // namespace holdfast::redis
