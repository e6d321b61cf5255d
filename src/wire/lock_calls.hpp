// Typed calls of the plain lock's transitions: arguments in, meaning of the reply out (docs/wire.md section 2).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/resp.hpp"

namespace holdfast::wire {

/// Who holds, `<client uuid>:<number>`. A type of its own, so that it cannot be mixed up with a name.
struct Owner {
  std::string text;
  friend bool operator==(const Owner&, const Owner&) = default;
};

/// The key and the channel of one lock, derived once.
struct LockNames {
  explicit LockNames(std::string raw_name);
  LockNames(std::string raw_name, std::string its_channel);
  std::string key;
  std::string channel;
};

/// Reply of an acquire. Neither granted nor busy: the reply makes no sense, or it is an error.
struct AcquireReply {
  bool granted = false;
  std::optional<std::chrono::milliseconds> busy_for;  ///< Remaining time to live; -1 ms: it has none.
  std::size_t blocker = 0;                            ///< When busy: which of the locks that were asked for.
  std::optional<std::int64_t> listeners{};            ///< When busy, and it was asked for; -1: we may not ask.
  std::string holder{};                               ///< With `listeners`; empty: we may not ask.
};

/// One lock as read back: its holder, empty if it is free, and how often that holds it.
struct Held {
  std::string owner;
  long long count = 0;
};

struct Renewal {
  std::string key;
  std::string owner;
};

/// `count`: if it is busy, ask how many connections listen for its release.
base::Command acquire(const LockNames& names, const Owner& owner, std::chrono::milliseconds lease, bool count = false);
/// All or none.
base::Command acquire_all(std::span<const LockNames> names, const Owner& owner, std::chrono::milliseconds lease);
AcquireReply decode_acquire(const base::Reply& reply);

base::Command release(const LockNames& names, const Owner& owner);
base::Command release_all(std::span<const LockNames> names, const Owner& owner);
/// Released by this call, all of them if there are several: how many clients were told. Empty: it, or one of them, was
/// not this owner's.
std::optional<std::int64_t> decode_release(const base::Reply& reply);

base::Command force_release(const LockNames& names);

base::Command server_info();
/// What no other run of a server has; empty if it does not tell.
std::string decode_run_id(const base::Reply& reply);

base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);
/// For each renewal asked for: true if extended. Empty if the reply does not fit the call.
std::vector<bool> decode_renew(const base::Reply& reply, std::size_t asked);

// Kinds of locks differ in their scripts, not in the calls' arguments.
base::Command acquire_all_with(const base::Script& script, std::span<const LockNames> names, const Owner& owner,
                               std::chrono::milliseconds lease);
base::Command release_all_with(const base::Script& script, std::span<const LockNames> names, const Owner& owner);
base::Command renew_with(const base::Script& script, const std::vector<Renewal>& renewals,
                         std::chrono::milliseconds lease);

base::Command holder(std::string_view key);  ///< HGETALL
Held decode_holder(const base::Reply& reply);
base::Command remaining(std::string_view key);  ///< PTTL
/// Empty: the key is absent or has no expiry.
std::optional<std::chrono::milliseconds> time_left(const base::Reply& pttl);
base::Command count_fields(std::string_view key);                       ///< HLEN: WRONGTYPE shows, unlike with EXISTS
base::Command has_owner(std::string_view key, std::string_view owner);  ///< HEXISTS
base::Command scan(std::string_view cursor, std::string_view pattern, std::size_t count);

}  // namespace holdfast::wire
