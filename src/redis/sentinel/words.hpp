// Commands for a Sentinel, and its replies as plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

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

}  // namespace holdfast::redis::sentinel
