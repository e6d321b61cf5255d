// Names of keys and channels, put together as Redisson does (docs/wire.md section 1). Each kind has its own prefixes.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::wire {

/// The key and the channel of one lock, derived once.
struct LockNames {
  std::string key;
  std::string channel;
};

/// For one lock, or several that are taken together.
using Names = std::span<const LockNames>;

/// `prefix:{name}`, or `prefix:name` if the name has a `{` itself.
std::string prefixed(std::string_view prefix, std::string_view name);
/// `{name}:suffix`, or `name:suffix` if the name has a `{` itself.
std::string suffixed(std::string_view name, std::string_view suffix);

/// The key under which a server remembers an operation on `name` (Once); no other client knows it. It is in the slot of
/// `name`, unless that has a `}` and no tag, as `a}b`: no other key can share the slot of such a name, and a cluster
/// refuses its scripts, as CROSSSLOT, before they change anything.
std::string once_key(std::string_view name, std::string_view operation);

}  // namespace holdfast::wire
