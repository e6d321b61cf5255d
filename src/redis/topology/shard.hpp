// One server as a client sees it: the way there, what is subscribed there, and which server it is.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/config.hpp>

#include "redis/cluster/slot.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/lane.hpp"
#include "redis/connection/listeners.hpp"
#include "redis/connection/subscriptions.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

class Shard;

/// What stands for a server that was asked which it is, and does not tell: see Shard::server.
constexpr std::uint64_t kNameless = 1;

/// Further lanes to the same server, each for what would be in the way on the one that all else uses.
enum class Side : std::uint8_t {
  acks,   ///< Waits for replicas, which blocks a connection at the server.
  watch,  ///< Hears that keys were changed.
};
constexpr std::size_t kSides = 2;

/// What is heard of shards, and of which. Called on the loop, must not block.
struct ShardEvents {
  std::function<void(Shard&)> connected;
  std::function<void(Shard&, const std::string& cause)> disconnected;
  std::function<void(Shard&)> message;
  std::function<void(Shard&)> command;
  std::function<void(Shard&, std::size_t bytes)> to_be_flushed;
  /// On any of its lanes: see LaneEvents.
  std::function<void(Shard&, Operation, base::Duration took)> answered = [](Shard&, Operation, base::Duration) {};
  std::function<void(Shard&, Side)> side_connected{};
  std::function<void(Shard&, Side)> side_disconnected{};
  /// On the lane that watches: see LaneEvents.
  std::function<void(Shard&, const base::Reply& keys)> invalidated{};
  /// Where they are set, as those of LaneEvents: of the lane that all use but the sides, and of all lanes.
  std::function<void(Shard&, Misdirected&&)> misdirected{};
  std::function<void(Shard&, const std::string& error_text)> refused{};
  /// On the lane that all use but the sides: see LaneEvents.
  std::function<void(Shard&, const std::string& channel)> taken_away = [](Shard&, const std::string&) {};
  /// These slots are served by another shard than before.
  std::function<void(const cluster::SlotSet&)> moved = [](const cluster::SlotSet&) {};
};

/// On the loop, unless it says otherwise.
class Shard {
 public:
  /// Each lane asks for addresses by itself.
  using MakeSource = std::function<std::shared_ptr<EndpointSource>()>;

  /// The events outlive it.
  Shard(timing::Schedule& schedule, const Config& config, MakeSource make_source, std::shared_ptr<Listeners> listeners,
        const ShardEvents& events);
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;
  ~Shard();

  void send(Request&& request, Lane::Handler&& handler);
  /// The same, of what is no reason to stay connected.
  void ask(Request&& request, Lane::Handler&& handler) { lane_.send(std::move(request), std::move(handler)); }
  /// What was asked is answered: if nothing was ever sent, the connection ends.
  void rest_if_unused();
  /// Made and connected when it is first asked for. What the two send has no order.
  Lane& side_lane(Side side);
  /// Whether it has reached the address that the lane has which all else uses. Each asks for addresses by itself, and
  /// may hear of another server.
  bool is_beside_main(Side side) const;

  // For all of its lanes: as those of `Lane`.
  void start(const std::weak_ptr<void>& owner);
  void start_at_rest(const std::weak_ptr<void>& owner);
  /// As that of `Lane`, if anything was ever sent.
  void set_needed(bool needed);
  /// As those of `Lane`, of all its lanes.
  bool at_rest() const;
  void begin_anew();
  void flush();
  void recover();
  void close();
  void drop_all();
  /// Where callers' replies come in: of the lane that all use but the sides, and of the one for acks; -1: there is
  /// none.
  std::array<int, 2> sockets() const;

  // Of the lane that all use but the sides: as those of `Lane`.
  void reroute() { lane_.reroute(); }
  void refuse_waiting(std::error_code error, const std::string& cause) { lane_.refuse_waiting(error, cause); }

  /// The server that is connected, or was lately, in words; empty: not known.
  std::string address() const { return lane_.server(); }

  /// From any thread.
  const std::shared_ptr<Subscriptions>& subscriptions() const { return subscriptions_; }

  /// The same for two shards of the same server; kNameless: it does not tell; 0: not known, since it was not asked or
  /// is not connected. From any thread.
  std::uint64_t server() const { return server_.load(std::memory_order_relaxed); }
  /// Whoever has asked says what the server told; forgotten with the connection.
  void identify(std::uint64_t server) { server_.store(server, std::memory_order_relaxed); }

  /// How many replicas it has on record with those who would elect one of them; empty: nobody has told.
  std::optional<int> configured_replicas() const { return configured_replicas_; }
  void set_configured_replicas(std::optional<int> replicas) { configured_replicas_ = replicas; }

 private:
  struct SideLane;
  LaneEvents lane_events();
  LaneEvents side_events(Side side);
  void hear_refusals(LaneEvents& events);
  void for_each_lane(void (Lane::*what)());

  timing::Schedule& schedule_;
  const Config config_;
  const MakeSource make_source_;
  const ShardEvents& events_;
  const std::shared_ptr<Subscriptions> subscriptions_;
  std::atomic<std::uint64_t> server_{0};
  std::weak_ptr<void> owner_;
  bool closed_ = false;
  bool needed_ = true;
  bool used_ = true;
  std::optional<int> configured_replicas_;
  Lane lane_;
  std::array<std::unique_ptr<SideLane>, kSides> sides_;
};

}  // namespace holdfast::redis
