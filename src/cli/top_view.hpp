// What `holdfast top` shows, and what it remembers between two looks.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "base/clock.hpp"
#include "cli/server_watch.hpp"

namespace holdfast::cli {

/// One lock as shown.
struct TopRow {
  std::string node;
  LockInfo lock;
  /// How long this owner has been seen with it. Servers do not report when a lock was taken.
  std::chrono::milliseconds held{};
  bool held_longer = false;  ///< It already had it at the first look.

  std::uint64_t waiting() const { return lock.listeners.value_or(0) + lock.queued.value_or(0); }
};

/// What comes first; the names decide between equals.
enum class TopOrder {
  waiters,  ///< With the most waiters, then held longest.
  held,     ///< Held longest.
  ttl,      ///< With the least time to live; none comes last.
  name,
};
/// The order after this one; after the last the first.
TopOrder next(TopOrder order);

/// All servers at one moment. Pure; times are inputs.
struct TopView {
  std::vector<SeenServer> servers;
  std::vector<TopRow> rows;
  TopOrder order = TopOrder::waiters;  ///< Of the rows.

  void sort(TopOrder by);
  /// For people: a line for each server that does not answer, and a table.
  std::string in_lines() const;
  boost::json::object in_json(std::chrono::system_clock::time_point at) const;
};

/// Remembers since when each owner has been seen. Pure; times are inputs.
class TopMemory {
 public:
  TopView take(std::vector<SeenServer> servers, base::TimePoint now);

 private:
  struct Since {
    std::string owner;
    base::TimePoint time{};
    bool longer = false;
  };
  std::map<std::string, std::map<std::string, Since>> since_;  // by server, by name; of servers that have answered
};

}  // namespace holdfast::cli
