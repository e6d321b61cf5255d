// The known Sentinels, and the order in which to ask them. Pure.
#pragma once

#include <vector>

#include <holdfast/config.hpp>

namespace holdfast::redis::sentinel {

/// The user's are always kept; others that they report are added while there is room.
class KnownSentinels {
 public:
  /// No more than this many are remembered, unless the user names more.
  static constexpr std::size_t kMost = 64;

  explicit KnownSentinels(std::vector<NodeAddress> users) : users_(users), order_(std::move(users)) {}

  /// The order in which to ask them.
  const std::vector<NodeAddress>& order() const { return order_; }
  /// From now on it is asked first.
  void worked(const NodeAddress& address);
  /// From now on it is asked last.
  void failed(const NodeAddress& address);
  /// Addresses reported by one that worked. New ones are added at the end, replacing recently failed ones that the user
  /// has not named.
  void heard_of(const std::vector<NodeAddress>& others);

 private:
  bool make_room();

  const std::vector<NodeAddress> users_;
  std::vector<NodeAddress> order_;
  std::vector<NodeAddress> failed_;  // since they last worked
};

}  // namespace holdfast::redis::sentinel
