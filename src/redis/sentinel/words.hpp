// What is said to a Sentinel, and what it says: plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"

namespace holdfast::redis::sentinel {

/// Where Sentinels announce that another server has become a primary, of whatever name.
inline constexpr std::string_view kSwitchChannel = "+switch-master";

/// Where is the primary of this name, which other Sentinels watch over it, and how many replicas does it have?
std::vector<base::Command> questions(const std::string& name);

struct Answer {
  std::optional<NodeAddress> primary;  ///< None: `problem` says why.
  std::vector<NodeAddress> sentinels;  ///< The others that it knows; they may be given by other names than ours.
  std::optional<int> replicas{};       ///< That it has on record, be they there or not: one of them may be elected.
  std::string problem;
};
/// Of the replies to questions().
Answer decode(const std::vector<base::Reply>& replies);

/// The new address, if this message on kSwitchChannel is about the primary of this name.
std::optional<NodeAddress> switched_to(std::string_view message, std::string_view name);

/// `host:port`.
std::string in_words(const NodeAddress& address);

}  // namespace holdfast::redis::sentinel
