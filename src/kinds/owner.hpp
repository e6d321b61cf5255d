// SPDX-License-Identifier: Apache-2.0
// Who holds a lock, as written on the server, and what that text says about its client (docs/wire.md section 1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::wire {

/// Whether an owner wants a lock for itself, or shared with other owners who want to share it.
enum class Mode : std::uint8_t { exclusive, shared };

/// What an owner requests, and then has. Kinds with only one mode and one permit ignore it.
struct Ask {
  Mode mode = Mode::exclusive;
  std::uint32_t permits = 1;
  friend bool operator==(const Ask&, const Ask&) = default;
};

/// Who holds, `<client uuid>:<number>`, and as what. A type of its own, so that it cannot be mixed up with a name.
struct Owner {
  std::string text;
  Ask ask{};
  friend bool operator==(const Owner&, const Owner&) = default;
};

/// A UUID of this version, lower case with hyphens, from the system's random source: 4 means random, 8 means that its
/// maker defines the meaning.
std::string make_uuid(unsigned version = 4);

/// True for text of the shape of a UUID, of any version.
bool is_uuid(std::string_view text);

/// True for text of the shape `<uuid>:<decimal>`, which Redisson and Holdfast write as owner. Redisson's users may give
/// its asynchronous calls any number, so it may be negative.
bool looks_like_owner(std::string_view field);

/// True for such an owner, and for `<uuid>:<uuid>`, which node-redisson writes as the owner of a plain lock.
bool looks_like_holder(std::string_view field);

/// The UUID of either.
std::string_view client_of(std::string_view owner);

/// A permit's id, as shown, begins with half the UUID of its client, if that is a Holdfast client: that half, with its
/// hyphens. Empty: not a permit.
std::string client_begin_of_permit(std::string_view shown);

/// True for the UUID of a Holdfast client with a connection name: that is version 8; Redisson's and those of clients
/// without a name are version 4.
bool is_named_client(std::string_view uuid);

}  // namespace holdfast::wire
