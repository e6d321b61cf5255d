// SPDX-License-Identifier: Apache-2.0
// What queries return about a lock and its holder.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/export.hpp>

namespace holdfast {

/// Who holds a lock, as far as the server knows. The name of each Holdfast connection says whose it is. A hint for
/// people, not proof: each client chooses its own name, and may lie. Texts may contain any bytes.
struct HOLDFAST_EXPORT Holder {
  enum class Kind {
    holdfast,  ///< A client of Holdfast whose connection has a name.
    redisson,  ///< `<uuid>:<number>` without Holdfast's mark: Redisson, or a client of Holdfast without a name.
    other,     ///< A token of the SET NX PX family.
  };
  enum class Connection {
    unknown,  ///< Not queried, or the server does not say, or the client is of a kind without connection names.
    open,     ///< There is one; the members below describe it.
    none,     ///< A client of Holdfast with no connection now: it left the hold (detach, leave), is cut off, about to
              ///< reconnect, or dead. Never in a cluster, since it may be connected to other nodes.
  };
  Kind kind = Kind::other;
  Connection connection = Connection::unknown;
  std::string host;                      ///< The host name of its machine or container.
  std::int64_t process = 0;              ///< Its process id there.
  std::string label;                     ///< Config::label.
  std::string address;                   ///< The connection's other end, as the server sees it.
  std::chrono::seconds connected_for{};  ///< How long this connection has been up. The client may be older.
};

/// For people: `web-3, process 812, label nightly`, or whatever is known. Unprintable text is escaped.
HOLDFAST_EXPORT std::string to_string(const Holder& holder);

/// One of those who have a lock.
struct LockHolder {
  enum class Mode {
    exclusive,  ///< Alone; for a read-write lock, its writer.
    shared,     ///< Beside others: a reader.
  };
  std::string owner;
  Mode mode = Mode::exclusive;
  std::int64_t count = 0;                                ///< As LockInfo::holds, for this holder.
  std::optional<std::chrono::milliseconds> remaining{};  ///< Until its own lease is over; empty: no expiry.
  std::optional<Holder> holder{};                        ///< Empty: not requested.
};

/// One waiter in the queue of a FairLock.
struct LockWaiter {
  std::string owner;
  /// How long it keeps its place without sending anything, which matters once it is next; below zero: that time is
  /// over. A live waiter keeps extending it, so it is not a limit on the wait. Empty: none. The server does not know
  /// how long it has waited already.
  std::optional<std::chrono::milliseconds> keeps_place{};
  std::optional<Holder> holder{};  ///< Who it is; empty: not requested.
};

/// What Client::list searches for. Kinds that are stored in the same form are found together.
enum class KeyForm {
  locks,              ///< Lock, FencedLock, FairLock and SpinLock, which have the same form.
  read_write_locks,   ///< With all their holders in `holders`.
  simple_locks,       ///< Each string with an expiry, whatever it is.
  leased_semaphores,  ///< Those with a permit taken, with `holders` and `available`.
  semaphores,         ///< Every string that is a number, whatever it counts. With `available`.
  latches,            ///< The same, with `listeners` as for a latch.
  any,                ///< `locks`, `read_write_locks` and `leased_semaphores`, all that is found by the type of a key:
                      ///< LockInfo::form says which. Strings, of which most are something else, are left out.
};

/// What the server reports about a lock. If several hold it, `owner`, `holds` and `holder` are those of the first of
/// `holders`, and `remaining` is the time until the last of them would expire.
struct LockInfo {
  std::string name;
  std::string owner;                                     ///< Empty: free.
  std::optional<std::chrono::milliseconds> remaining{};  ///< Remaining time to live; empty: free, or no expiry.
  std::int64_t holds = 0;                                ///< Redisson's hold count; Holdfast's own holds count 1.
  std::optional<Holder> holder{};                        ///< Empty: free, or not requested.
  /// Connections that listen for its release: one for each client that waits, however many of its callers do. A client
  /// listens for some seconds after a wait as well, so the holder's may be among them. Waiters that only poll are not.
  /// In a cluster without sharded channels, those at the lock's own server. Empty: not requested, not permitted, a
  /// SpinLock, whose release is not published, or a FairLock, whose waiters are in `queue`.
  std::optional<std::uint64_t> listeners{};
  /// All holders; empty: free. Most kinds have one; a read-write lock has its writer, if any, followed by the readers.
  /// A writer that also reads is listed twice.
  std::vector<LockHolder> holders{};
  /// The waiters of a FairLock, the next one first, 100 at most; there may be some while it is free. Empty for another
  /// kind, or if only the owner is requested.
  std::vector<LockWaiter> queue{};
  /// How many waiters there are in all. Empty: not requested, or the server keeps no queue.
  std::optional<std::uint64_t> queued{};
  /// For a LeasedSemaphore or a Semaphore, how many permits can be taken; for a Latch, how many steps are left. Empty
  /// for other kinds.
  std::optional<std::int64_t> available{};
  /// For a FencedLock, the token of its latest grant to anyone, still held or not. Empty: another kind, no grant yet,
  /// only the owner is requested, or the server does not permit `GET` of the counter.
  std::optional<std::int64_t> token{};
  /// As what Client::list found it, never KeyForm::any. Empty: not from a list.
  std::optional<KeyForm> form{};
};

/// How much to find out about a lock's holder.
enum class InfoDetail {
  owner,   ///< Only what the lock's key says. For frequent queries.
  holder,  ///< `holder`, `listeners` and `queue` too: 1 CLIENT LIST, about 330 bytes and 1 us of the server's time for
           ///< each of its clients. Without permission for it, the connection is `unknown`.
  holder_if_cheap,  ///< The same on a server with at most 1,000 clients (INFO), for many callers at the same time.
};

}  // namespace holdfast
