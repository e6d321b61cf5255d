// SPDX-License-Identifier: Apache-2.0
// Typed calls of the read-write lock's transitions (docs/wire.md section 2). Their replies are described in calls.hpp.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/calls.hpp"

namespace holdfast::wire::read_write {

/// The channel on which Redisson publishes releases of either side.
LockNames names(std::string raw_name);
/// The key that lives as long as this reader's lease.
std::string hold_key(std::string_view key, std::string_view owner);

/// For one lock. A reader is admitted beside other readers, and beside a writer with the same owner.
base::Command acquire_read(const AcquireCall& call);
base::Command acquire_write(const AcquireCall& call);
/// For both. A reader admitted beside others gets the number of listeners, writers included, if it requested that.
AcquireReply decode_acquire(const base::Reply& reply);

/// For one lock. Both replies are read by wire::decode_release; nothing is published if others still hold the lock.
base::Command release_read(const ReleaseCall& call);
base::Command release_write(const ReleaseCall& call);

/// The parameters of a writer that becomes a reader. It refers to data of its caller.
struct DowngradeCall {
  const LockNames& names;
  const Owner& writer;
  const Owner& reader;  ///< May be the same.
  std::chrono::milliseconds lease;
  Publish publish = Publish::publish;
};
/// The reply is read by wire::decode_release: how many clients were notified that it can be read; empty: the writer did
/// not have it, so the reader does not either.
base::Command downgrade(const DowngradeCall& call);

/// Extends holds of readers and writers, according to each renewal's mode. The reply is read by wire::decode_renew.
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

/// Everything that this owner holds, as reader and as writer; without one, everybody's holds. The reply: 1, or 0 if
/// there was none.
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);

base::Command has_mode(std::string_view key);                            ///< HEXISTS
base::Command has_reader(std::string_view key, std::string_view owner);  ///< HEXISTS
base::Command has_writer(std::string_view key, std::string_view owner);  ///< HEXISTS

/// Who has it: a script, since plain commands cannot recognise things that are not locks. For those it is an error.
base::Command holders(std::string_view key);

/// A hold as the server has it.
struct Hold {
  std::string owner;  ///< A writer's, without its `:write`.
  long long count = 0;
  /// Until its lease is over. Below 0: a reader's is over; a writer has none.
  std::chrono::milliseconds left{};
};
struct Holders {
  std::optional<Hold> writer{};
  std::vector<Hold> readers{};  ///< With a writer: its own holds as a reader.
  bool free() const { return !writer && readers.empty(); }
};
/// Nobody, if the reply is invalid.
Holders decode_holders(const base::Reply& reply);
/// One holder from the same reply: the writer, if there is one.
Held decode_holder(const base::Reply& reply);
/// All holders from the same reply, the writer first.
std::vector<Held> decode_all(const base::Reply& reply);

}  // namespace holdfast::wire::read_write
