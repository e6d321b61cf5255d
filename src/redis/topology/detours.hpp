// Requests of a cluster that another node is to be asked than the one that was.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include <holdfast/config.hpp>

#include "redis/connection/request.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// None of them was executed. They go on within their own time limits, at once the first times, then behind pauses,
/// since nodes that do not agree may send a request around in a circle. A request of several commands is taken apart,
/// and its replies put together again. On the loop.
class Detours {
 public:
  struct Ways {
    /// To the shard that serves the request's key.
    std::function<void(Request&&, ResultHandler&&)> by_key;
    /// To the node at this address.
    std::function<void(const NodeAddress&, Request&&, ResultHandler&&)> to;
  };
  Detours(timing::Schedule& schedule, Ways ways);

  /// `asked`: the node that has answered, if one has.
  void take(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now);
  /// When the next pause is over; max(): there is none.
  base::TimePoint due() const { return paused_.empty() ? base::TimePoint::max() : paused_.begin()->first; }
  /// Those whose pause is over go on. Its own alarm calls it.
  void on_time(base::TimePoint now);
  /// Those who pause hear that the client is closed.
  void close();
  /// Forgets all, without a word.
  void drop_all();

  /// So many detours are taken at once; so long is the first pause behind them, and the longest.
  static constexpr int kAtOnce = 3;
  static constexpr std::chrono::milliseconds kFirstPause{5};
  static constexpr std::chrono::milliseconds kLongestPause{500};

 private:
  void take_one(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now);
  void take_apart(Misdirected&& misdirected, const NodeAddress& asked, base::TimePoint now);
  void go_on(Misdirected&& misdirected, const std::optional<NodeAddress>& to, base::TimePoint now);

  const Ways ways_;
  timing::Alarm alarm_;
  std::multimap<base::TimePoint, Misdirected> paused_;
  bool closed_ = false;
};

}  // namespace holdfast::redis
