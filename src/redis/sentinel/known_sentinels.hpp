// Which Sentinels there are, and which of them is asked first. Pure.
#pragma once

#include <vector>

#include <holdfast/config.hpp>

namespace holdfast::redis::sentinel {

/// The user's are kept always; those of which they tell are added, as long as there is room.
class KnownSentinels {
 public:
  /// No more than this many are remembered, unless the user names more.
  static constexpr std::size_t kMost = 64;

  explicit KnownSentinels(std::vector<NodeAddress> users) : users_(users), order_(std::move(users)) {}

  /// In the order in which they are to be asked.
  const std::vector<NodeAddress>& order() const { return order_; }
  /// It is asked first from now on.
  void worked(const NodeAddress& address);
  /// It is asked last from now on.
  void failed(const NodeAddress& address);
  /// One that worked knows these. What is new comes last, in the place of such as have failed of late and that the user
  /// has not named.
  void heard_of(const std::vector<NodeAddress>& others);

 private:
  bool make_room();

  const std::vector<NodeAddress> users_;
  std::vector<NodeAddress> order_;
  std::vector<NodeAddress> failed_;  // since they last worked
};

}  // namespace holdfast::redis::sentinel
