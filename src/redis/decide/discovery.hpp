// SPDX-License-Identifier: Apache-2.0
// What Sentinels are asked, and their replies as plain values; which of them to ask for the primary's address, and
// when, until one knows it. Pure; the time is an input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"

namespace holdfast::redis::sentinel {

/// Where Sentinels announce a new primary, for any primary name.
inline constexpr std::string_view kSwitchChannel = "+switch-master";

/// Where is the primary of this name, which other Sentinels watch over it, and how many replicas does it have?
std::vector<base::Command> questions(const std::string& name);

struct Answer {
  std::optional<NodeAddress> primary;  ///< None: `problem` says why.
  std::vector<NodeAddress> sentinels;  ///< The others that it knows, possibly under other host names than ours.
  std::optional<int> replicas{};       ///< On record, up or down: one of them may be elected.
  std::string problem;
};
/// Decodes the replies to questions().
Answer decode(const std::vector<base::Reply>& replies);

/// The new address, if this message on kSwitchChannel is about the primary of this name.
std::optional<NodeAddress> switched_to(std::string_view message, std::string_view name);

/// `host:port`.
std::string in_words(const NodeAddress& address);

/// The known Sentinels, and the order in which to ask them. Pure. The user's are always kept; others that they report
/// are added while there is room.
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

/// One question to all Sentinels, one after the other. Each is asked a little later than the one before, or at once
/// when that one has failed or does not know; earlier ones may still answer, and the first good answer counts. So a
/// silent Sentinel costs a quarter of a second, and a slow one is still used if there is no other.
class Discovery {
 public:
  static constexpr base::Duration kHeadStart = std::chrono::milliseconds(250);

  /// `order`: not empty. All are asked in the first half of `limit`, the time that callers wait.
  Discovery(std::vector<NodeAddress> order, base::Duration limit);

  struct Step {
    std::optional<std::size_t> ask;         ///< Ask this one of `order` now.
    std::optional<base::TimePoint> look{};  ///< on_time() is due then, unless something else happens first.
    bool lost = false;                      ///< All have been asked, without success.
  };
  Step start(base::TimePoint now) { return next(now); }
  Step on_time(base::TimePoint now) { return next(now); }
  /// A Sentinel does not know the primary, or could not be asked.
  Step on_failure(std::size_t index, const std::string& why, base::TimePoint now);

  const NodeAddress& sentinel(std::size_t index) const { return order_[index]; }
  /// Those that were asked and have not answered.
  std::vector<NodeAddress> silent() const;
  /// Each Sentinel that has failed, with its answer.
  std::string problem() const;
  /// Those that have not answered yet, and the others' answers; a text to follow "no".
  std::string missing() const;

 private:
  Step next(base::TimePoint now);

  const std::vector<NodeAddress> order_;
  const base::Duration head_start_;
  std::vector<std::optional<std::string>> failures_;  // of those that were asked
};

}  // namespace holdfast::redis::sentinel
