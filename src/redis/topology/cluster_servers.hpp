// SPDX-License-Identifier: Apache-2.0
// Redis Cluster, or Valkey Cluster: a shard for each primary, and a map of the slots' owners.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include "loop/alarm.hpp"
#include "redis/connection/request.hpp"
#include "redis/decide/redirect.hpp"
#include "redis/decide/survey.hpp"
#include "redis/topology/cluster_map.hpp"
#include "redis/topology/router.hpp"
#include "system/system.hpp"

namespace holdfast::redis {

/// Requests to a cluster that were redirected to another node, or whose keys are not all at one node. None of them was
/// executed. They are resent within their own time limits, at once the first times, then after pauses, since nodes that
/// disagree may redirect a request in a circle. A request of several commands is split, and its replies are combined
/// again. A script whose keys are not all at one node (TRYAGAIN) is sent in another form, if there is one for where
/// they are (cluster/redirect.hpp). On the loop.
class Detours {
 public:
  struct Ways {
    /// To the shard that serves the request's key.
    std::function<void(Request&&, ResultHandler&&)> by_key;
    /// To the node at this address.
    std::function<void(const NodeAddress&, Request&&, ResultHandler&&)> to;
  };
  Detours(timing::Schedule& schedule, Ways ways);

  /// `asked`: the node that redirected it, if any.
  void take(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now);
  /// When the next pause ends; max(): there is none.
  base::TimePoint due() const { return paused_.empty() ? base::TimePoint::max() : paused_.begin()->first; }
  /// Resends those whose pause is over. Called by its own alarm.
  void on_time(base::TimePoint now);
  /// Fails pausing requests, since the client is closed.
  void close();
  /// Drops all requests without calling their handlers.
  void drop_all();
  bool closed() const { return closed_; }  ///< By either.

  /// How many detours are taken without a pause; then the first pause, and the longest.
  static constexpr int kAtOnce = 3;
  static constexpr std::chrono::milliseconds kFirstPause{5};
  static constexpr std::chrono::milliseconds kLongestPause{500};

 private:
  void take_one(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now);
  void take_apart(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now);
  void find_keys(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now);
  void on_found(Misdirected&& misdirected, const cluster::Whereabouts& where, base::TimePoint now);
  void send_again(Misdirected&& misdirected, const std::optional<NodeAddress>& to, base::TimePoint now);
  void send_pieces(Misdirected&& misdirected, std::vector<base::Command> pieces, std::size_t next, base::TimePoint now);
  void go_on(Misdirected&& misdirected, const std::optional<NodeAddress>& to, base::TimePoint now);

  const Ways ways_;
  timing::Alarm alarm_;
  std::multimap<base::TimePoint, Misdirected> paused_;
  bool closed_ = false;
};

/// Surveys the cluster by asking one node at a time; reports doubts to Survey and carries out what it decides.
class ClusterServers final : public Router, private ServerEvents {
 public:
  ClusterServers(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners,
                 ServerEvents& events);

  Shard& shard_of(std::string_view key) override;
  std::span<Shard* const> shards() const override { return map_.serving(); }
  Shard& shard_of_slot(std::uint16_t slot) override { return map_.shard_of(slot); }
  std::uint16_t slot_of(std::string_view key) const override { return cluster::slot_of(key); }
  Publish publish() const override { return publish_.load(std::memory_order_relaxed); }
  void send(Request&& request, Lane::Handler&& handler) override;

  void start(const std::weak_ptr<void>& owner) override;
  void flush() override;
  void recover() override;
  void close() override;
  void drop_all() override;
  std::array<int, 2> sockets() const override;

  Shard* shard_at(const NodeAddress& address) override;
  /// The smallest of its primaries' ids, which is the same for all clients with the same map.
  std::uint64_t server() const override { return cluster_.load(std::memory_order_relaxed); }

 private:
  // Of the nodes.
  void connected(Shard& shard) override;
  void disconnected(Shard& shard, const std::string& cause) override;
  void message(Shard& shard) override { events_.message(shard); }
  void command(Shard& shard) override { events_.command(shard); }
  void to_be_flushed(Shard& shard, std::size_t bytes) override;
  void answered(Shard& shard, Operation operation, base::Duration took) override {
    events_.answered(shard, operation, took);
  }
  void refused(Shard& shard, const std::string& error_text) override;
  void side_connected(Shard& shard, Side side) override;
  void side_disconnected(Shard& shard, Side side) override { events_.side_disconnected(shard, side); }
  void invalidated(Shard& shard, const base::Reply& keys) override { events_.invalidated(shard, keys); }
  bool takes_misdirected() const override { return true; }
  void misdirected(Shard& shard, Misdirected&& misdirected) override;
  void taken_away(Shard& shard, const std::string& channel) override;
  void moved(const cluster::SlotSet& slots) override { events_.moved(slots); }
  void send_to(const NodeAddress& address, Request&& request, Lane::Handler&& handler);
  void doubt(const std::optional<NodeAddress>& about);
  void carry_out(const cluster::Survey::Step& step);
  void ask(const NodeAddress& address);
  void on_reply(const NodeAddress& from, const Result& result);
  void decide_publish(const Result& result);
  NodeAddress address_of(const Shard& shard);

  const Config config_;
  ServerEvents& events_;  // of the owner
  std::weak_ptr<void> owner_;
  ClusterMap map_;
  Detours detours_;
  cluster::Survey survey_;
  timing::Alarm survey_alarm_;
  std::atomic<Publish> publish_;
  std::atomic<std::uint64_t> cluster_{0};
  bool publish_decided_;
  bool mapped_ = false;
  std::error_code problem_ = Errc::unreachable;  // of the latest node that gave no map
  std::vector<Shard*> unflushed_;
  system::SocketSet sockets_;  // one descriptor for each client of a cluster
};

}  // namespace holdfast::redis
