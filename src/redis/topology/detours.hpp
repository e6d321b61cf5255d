// Requests to a cluster that were redirected to another node, or whose keys are not all at one node.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include <holdfast/config.hpp>

#include "redis/cluster/whereabouts.hpp"
#include "redis/connection/request.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// None of them was executed. They are resent within their own time limits, at once the first times, then after pauses,
/// since nodes that disagree may redirect a request in a circle. A request of several commands is split, and its
/// replies are combined again. A script whose keys are not all at one node (TRYAGAIN) is sent in another form, if there
/// is one for where they are (cluster/whereabouts.hpp). On the loop.
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

}  // namespace holdfast::redis
