// Names of keys and channels as Redisson derives them (docs/wire.md section 1).
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

/// True for text of the shape of a UUID, of any version.
bool is_uuid(std::string_view text);

/// True for text of the shape `<uuid>:<decimal>`, which Redisson and Holdfast write as owner.
bool looks_like_owner(std::string_view field);

/// The UUID of such an owner.
std::string_view client_of(std::string_view owner);

/// True for the UUID of a client of Holdfast whose connection carries its name: of version 8, where Redisson's and
/// those of clients without a name are of version 4.
bool is_named_client(std::string_view uuid);

}  // namespace holdfast::wire
