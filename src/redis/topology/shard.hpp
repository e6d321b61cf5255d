// SPDX-License-Identifier: Apache-2.0
// One server as a client sees it: its connections, its subscriptions, and its identity.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/config.hpp>

#include "loop/alarm.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/lane.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::redis {

class Shard;

/// The identity of a server that does not report one: see Shard::server.
constexpr std::uint64_t kNameless = 1;

/// Extra connections (lanes) to the same server, for traffic that would block the main one.
enum class Side : std::uint8_t {
  acks,   ///< Waits for replicas, which blocks a connection at the server.
  watch,  ///< Gets notices of changed keys.
};
constexpr std::size_t kSides = 2;

/// What happens on servers: called on the loop, must not block. Whoever receives it outlives the shards.
class ServerEvents {
 public:
  ServerEvents() = default;
  virtual ~ServerEvents() = default;
  ServerEvents(const ServerEvents&) = delete;
  ServerEvents& operator=(const ServerEvents&) = delete;

  virtual void connected(Shard&) {}
  virtual void disconnected(Shard&, const std::string& /*cause*/) {}
  virtual void message(Shard&) {}
  // On any of its lanes: see LaneEvents.
  virtual void command(Shard&) {}
  virtual void to_be_flushed(Shard&, std::size_t /*bytes*/) {}
  virtual void answered(Shard&, Operation, base::Duration /*took*/) {}
  virtual void refused(Shard&, const std::string& /*error_text*/) {}
  virtual void side_connected(Shard&, Side) {}
  virtual void side_disconnected(Shard&, Side) {}
  /// On the `watch` lane: see LaneEvents.
  virtual void invalidated(Shard&, const base::Reply& /*keys*/) {}
  // On the main lane: see LaneEvents.
  virtual bool takes_misdirected() const { return false; }
  virtual void misdirected(Shard&, Misdirected&&) {}
  virtual void taken_away(Shard&, const std::string& /*channel*/) {}
  /// These slots are now served by another shard.
  virtual void moved(const cluster::SlotSet&) {}
};

/// On the loop, unless it says otherwise.
class Shard : private LaneEvents {
 public:
  /// Each lane has its own source of addresses.
  using MakeSource = std::function<std::shared_ptr<EndpointSource>()>;

  /// The events outlive it.
  Shard(timing::Schedule& schedule, const Config& config, MakeSource make_source, std::shared_ptr<Listeners> listeners,
        ServerEvents& events);
  ~Shard() override;

  void send(Request&& request, Lane::Handler&& handler);
  /// The same, for requests that are no reason to stay connected.
  void ask(Request&& request, Lane::Handler&& handler) { lane_.send(std::move(request), std::move(handler)); }
  /// To be called after the answer: ends the connection if nothing was ever sent.
  void rest_if_unused();
  /// Made and connected at the first call. Its requests are not ordered with those of the main lane.
  Lane& side_lane(Side side);
  /// Whether it is connected to the same address as the main lane. Each lane finds addresses by itself, and may get
  /// another server.
  bool is_beside_main(Side side) const;

  // For all its lanes: as those of `Lane`.
  void start(const std::weak_ptr<void>& owner);
  void start_at_rest(const std::weak_ptr<void>& owner);
  /// As that of `Lane`, if anything was ever sent.
  void set_needed(bool needed);
  /// As those of `Lane`, for all its lanes.
  bool at_rest() const;
  void begin_anew();
  void flush();
  void recover();
  void close();
  void drop_all();
  /// The sockets that callers' replies arrive on: of the main lane and of the `acks` lane; -1: none.
  std::array<int, 2> sockets() const;

  // For the main lane: as those of `Lane`.
  void reroute() { lane_.reroute(); }
  void refuse_waiting(std::error_code error, const std::string& cause) { lane_.refuse_waiting(error, cause); }

  /// The server that is or was last connected, as text; empty: unknown.
  std::string address() const { return lane_.server(); }

  /// From any thread.
  const std::shared_ptr<Subscriptions>& subscriptions() const { return subscriptions_; }

  /// Equal for two shards of the same server; kNameless: the server does not report it; 0: unknown, since it was not
  /// asked or is not connected. From any thread.
  std::uint64_t server() const { return server_.load(std::memory_order_relaxed); }
  /// Sets the identity that the server reported; reset when the connection ends.
  void identify(std::uint64_t server) { server_.store(server, std::memory_order_relaxed); }

  /// How many replicas those who would elect one of them have on record; empty: unknown.
  std::optional<int> configured_replicas() const { return configured_replicas_; }
  void set_configured_replicas(std::optional<int> replicas) { configured_replicas_ = replicas; }

 private:
  struct SideLane;
  // Of the main lane.
  void connected() override { events_.connected(*this); }
  void disconnected(const std::string& cause) override;
  void message() override { events_.message(*this); }
  void command() override { events_.command(*this); }
  void to_be_flushed(std::size_t bytes) override { events_.to_be_flushed(*this, bytes); }
  void answered(Operation operation, base::Duration took) override { events_.answered(*this, operation, took); }
  bool takes_misdirected() const override { return events_.takes_misdirected(); }
  void misdirected(Misdirected&& what) override { events_.misdirected(*this, std::move(what)); }
  void refused(const std::string& error_text) override { events_.refused(*this, error_text); }
  void taken_away(const std::string& channel) override { events_.taken_away(*this, channel); }
  void for_each_lane(void (Lane::*what)());

  timing::Schedule& schedule_;
  const Config config_;
  const MakeSource make_source_;
  ServerEvents& events_;
  const std::shared_ptr<Subscriptions> subscriptions_;
  std::atomic<std::uint64_t> server_{0};
  std::weak_ptr<void> owner_;
  bool needed_ = true;
  bool used_ = true;
  std::optional<int> configured_replicas_;
  Lane lane_;
  std::array<std::unique_ptr<SideLane>, kSides> sides_;
};

}  // namespace holdfast::redis
