// What can be learnt about a lock and its holder.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/export.hpp>

namespace holdfast {

/// Who holds a lock, as far as the server knows. Every connection of Holdfast says in its name whose it is. A hint for
/// people, not proof: each client chooses its own name, and may lie. Texts may contain any bytes.
struct HOLDFAST_EXPORT Holder {
  enum class Kind {
    holdfast,  ///< A client of Holdfast whose connection has a name.
    redisson,  ///< `<uuid>:<number>` without Holdfast's mark: Redisson, or a client of Holdfast without a name.
    other,     ///< A token of the SET NX PX family.
  };
  enum class Connection {
    unknown,  ///< The server was not asked or does not say, or the client is of a kind that gives no name.
    open,     ///< There is one; the members below describe it.
    none,     ///< A client of Holdfast with no connection now: dead, cut off, or about to reconnect. If it is dead,
              ///< the lock ends with its lease. Never said in a cluster, whose other nodes it may be connected to.
  };
  Kind kind = Kind::other;
  Connection connection = Connection::unknown;
  std::string host;                      ///< The name that its machine or container gives itself.
  std::int64_t process = 0;              ///< Its process id there.
  std::string label;                     ///< Config::label.
  std::string address;                   ///< The connection's other end, as the server sees it.
  std::chrono::seconds connected_for{};  ///< How long this connection has been up. The client may be older.
};

/// For people: `web-3, process 812, label nightly`; or what is known instead. Unprintable text is escaped.
HOLDFAST_EXPORT std::string to_string(const Holder& holder);

/// One of those who have a lock.
struct LockHolder {
  enum class Mode {
    exclusive,  ///< Alone: of a read-write lock its writer.
    shared,     ///< Beside others: a reader.
  };
  std::string owner;
  Mode mode = Mode::exclusive;
  long long count = 0;                                   ///< As LockInfo::holds, of this one.
  std::optional<std::chrono::milliseconds> remaining{};  ///< Until its own lease is over; empty: it has no end.
  std::optional<Holder> holder{};                        ///< Empty: not asked for.
};

/// One of those who stand in the queue of a FairLock.
struct LockWaiter {
  std::string owner;
  /// How long it keeps its place without being heard of, which matters once it is next; below zero: it is over. A
  /// waiter that lives puts that off, so it is no limit. Empty: it has none. How long it has waited already, no server
  /// knows.
  std::optional<std::chrono::milliseconds> keeps_place{};
  std::optional<Holder> holder{};  ///< Who that is; empty: not asked for.
};

/// What the server reports about a lock. Of one that several have, `owner`, `holds` and `holder` are those of the first
/// of `holders`, and `remaining` is the time until the last of them would be gone.
struct LockInfo {
  std::string name;
  std::string owner;                                     ///< Empty: free.
  std::optional<std::chrono::milliseconds> remaining{};  ///< Remaining time to live; empty: free, or no expiry.
  long long holds = 0;                                   ///< Redisson's hold count; Holdfast's own holds count 1.
  std::optional<Holder> holder{};                        ///< Empty: free, or not asked for.
  /// Connections that listen for its release: one for each client that waits, however many of its callers do; for some
  /// seconds after a wait as well, so the holder's may be among them. Waiters that only ask now and then are not. In a
  /// cluster without sharded channels, those at the lock's own server. Empty: not asked for, not permitted, of a
  /// SpinLock, whose release nobody is told of, or of a FairLock, whose waiters are in `queue`.
  std::optional<std::uint64_t> listeners{};
  /// All who have it; empty: free. Of most kinds that is one; of a read-write lock its writer, if there is one, and
  /// then the readers. A writer that reads as well is in it twice.
  std::vector<LockHolder> holders{};
  /// Of a FairLock those who wait, the next one first, 100 at most; also of one that is free at this moment. Of another
  /// kind, or if only the owner is asked for, empty.
  std::vector<LockWaiter> queue{};
  /// How many those are in all. Empty: not asked for, or no queue of the server's.
  std::optional<std::uint64_t> queued{};
  /// Of a LeasedSemaphore or a Semaphore how many permits can be taken; of a Latch how many steps are missing. Empty:
  /// something else.
  std::optional<std::int64_t> available{};
  /// Of a FencedLock the token of its latest grant, whoever got it and whether or not it is still held. Empty: another
  /// kind, no grant yet, only the owner is asked for, or the server does not permit `GET` of the counter.
  std::optional<std::int64_t> token{};
};

/// What Client::list looks for. What is stored in the same form is found together.
enum class Listed {
  locks,              ///< Lock, FencedLock, FairLock and SpinLock, which look the same.
  read_write_locks,   ///< With all who have them in `holders`.
  simple_locks,       ///< Each string with an expiry, whatever it is.
  leased_semaphores,  ///< Those of which somebody has a permit, with `holders` and `available`.
  semaphores,         ///< Each string that is a number, whatever it counts: nobody can tell. With `available`.
  latches,            ///< The same, of which `listeners` are those of a latch.
};

/// How much to ask about a lock's holder.
enum class Detail {
  owner,   ///< Only what the lock's key says. For frequent queries.
  holder,  ///< `holder`, `listeners` and `queue` too: 1 CLIENT LIST, about 330 bytes and 1 us of the server's time for
           ///< each of its clients. Without permission for it, the connection is `unknown`.
  holder_if_cheap,  ///< The same on a server with at most 1,000 clients (INFO), for many callers at the same time.
};

}  // namespace holdfast
