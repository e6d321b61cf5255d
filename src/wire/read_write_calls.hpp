// Typed calls of the read-write lock's transitions (docs/wire.md section 2). What their replies mean stands in
// calls.hpp.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/calls.hpp"
#include "wire/renewal.hpp"

namespace holdfast::wire::read_write {

/// The channel is the one on which Redisson tells of a release of either side.
LockNames names(std::string raw_name);
/// The key that lives for as long as this reader's lease.
std::string hold_key(std::string_view key, std::string_view owner);

/// Of one lock. A reader comes in beside other readers, and beside the writer if it has the same owner.
base::Command acquire_read(const AcquireCall& call);
base::Command acquire_write(const AcquireCall& call);
/// Of both. A reader that came in beside others is told how many listen, if it asks for that: writers among them.
AcquireReply decode_acquire(const base::Reply& reply);

/// Of one lock. Both replies are read by wire::decode_release; nobody is told of a reader beside whom others hold it.
base::Command release_read(const ReleaseCall& call);
base::Command release_write(const ReleaseCall& call);

/// What a writer says that goes on as a reader. It refers to what its caller has.
struct DowngradeCall {
  const LockNames& names;
  const Owner& writer;
  const Owner& reader;  ///< May be the same.
  std::chrono::milliseconds lease;
  Publish publish = Publish::publish;
};
/// The reply is read by wire::decode_release: how many clients were told that it can be read; empty: the writer did not
/// have it, so the reader has not either.
base::Command downgrade(const DowngradeCall& call);

/// Extends holds of readers and of writers, as each renewal's mode says. The reply is read by wire::decode_renew.
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

/// All that this owner holds, as a reader and as a writer; without one, all that anybody holds. The reply: 1, or 0 if
/// that was nothing.
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);

base::Command has_mode(std::string_view key);                            ///< HEXISTS
base::Command has_reader(std::string_view key, std::string_view owner);  ///< HEXISTS
base::Command has_writer(std::string_view key, std::string_view owner);  ///< HEXISTS

/// Who has it: a script, since plain commands do not tell what is no lock. An error then.
base::Command holders(std::string_view key);

/// A hold as the server has it.
struct Hold {
  std::string owner;  ///< Of a writer without its `:write`.
  long long count = 0;
  /// Until its lease is over. Below 0: of a reader, it is over; of a writer, it has none.
  std::chrono::milliseconds left{};
};
struct Holders {
  std::optional<Hold> writer{};
  std::vector<Hold> readers{};  ///< With a writer: its own holds as a reader.
  bool free() const { return !writer && readers.empty(); }
};
/// Nobody, if the reply makes no sense.
Holders decode_holders(const base::Reply& reply);
/// Of the same reply, one of them: the writer, if there is one.
Held decode_holder(const base::Reply& reply);
/// Of the same reply, all of them: the writer first.
std::vector<Held> decode_all(const base::Reply& reply);

}  // namespace holdfast::wire::read_write
