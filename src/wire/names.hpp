// Names of keys and channels as Redisson derives them (protocol sections 1.1 and 2).
#pragma once

#include <string>
#include <string_view>

namespace holdfast::wire {

/// `prefix:{name}`, or `prefix:name` if the name has a `{` itself.
std::string prefixed(std::string_view prefix, std::string_view name);

/// The channel on which a release of this lock is told.
std::string lock_channel(std::string_view name);

/// The same for the SET NX PX family, which has no channel of its own: Holdfast's clients tell each other.
std::string simple_lock_channel(std::string_view name);

/// True for text of the shape `<uuid>:<decimal>`, which Redisson and Holdfast write as owner.
bool looks_like_owner(std::string_view field);

}  // namespace holdfast::wire
