// SPDX-License-Identifier: Apache-2.0
// What can go wrong, and how a release, an unlock and a try end: codes, the exception, and outcomes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <holdfast/export.hpp>

namespace holdfast {

/// Every failure that the library reports. `busy` and `timed_out` mean that somebody else has the lock; all others mean
/// that the call could not be carried out. Compare with `ec == holdfast::Errc::lost`.
enum class Errc {
  busy = 1,         ///< Held by somebody else, or other callers of this client wait for it, and the call did not wait.
  timed_out,        ///< Held by somebody else until the wait limit was over.
  cancelled,        ///< Ended by the caller's stop token or per-operation cancellation; an acquire under way is undone
                    ///< in the background. Also async_wait_lost() when the hold is released first.
  lost,             ///< The hold is gone: expired, taken by force, or no longer certain.
  not_owner,        ///< Release by a caller that does not hold the lock (a programming error).
  unreachable,      ///< No connection to the server; the command was not sent.
  unknown_outcome,  ///< Sent, but the reply never came. After an acquire, a release of its owner follows.
  denied,           ///< The server refuses the password or user, or a permission (ACL) is missing.
  tls,              ///< The TLS connection could not be trusted or set up.
  wrong_type,       ///< The lock's name belongs to something that is not a lock of this kind. It was left untouched.
  read_only,        ///< The server is a read-only replica.
  out_of_memory,    ///< The server is over its `maxmemory` and accepts no writes.
  unsupported_by_server,  ///< A required command is missing (no EVAL, Redis before 6), or it is not a Redis server.
  server_error,           ///< Any other error reply.
  invalid_argument,       ///< A malformed URL, an empty name, a lease out of range, ...
  forked,                 ///< A client was used in a child process after fork(); holds belong to the parent.
  closed,                 ///< The client was closed.
  would_deadlock,         ///< The calling thread already holds it and would wait for itself; or a blocking call on a
                          ///< client made by client_on().
  no_quorum,              ///< Too few of several servers answered. `cause()` lists every server's vote.
  exhausted,              ///< This process is out of threads or memory. A grant that cannot be handed over is released.
  durability_not_met,     ///< Granted, but fewer replicas than required have confirmed it (AcquireOptions::acks).
                          ///< `cause()` says how many. The grant is released.
  crowded,                ///< The limit on waiting calls (`max_waiters`) is reached, and this call would have
                          ///< had to wait too.
  not_set,                ///< Nobody has set how many permits the semaphore has, nor did while the call waited.
  too_few,                ///< The semaphore has fewer permits in all than the call asks for.
};

/// The enumerator's name, as logs and the tool's `--json` show it: `busy`, `timed_out`, ...
HOLDFAST_EXPORT const char* to_string(Errc code) noexcept;

/// The category of `Errc`; its messages are plain English.
HOLDFAST_EXPORT const std::error_category& error_category() noexcept;
HOLDFAST_EXPORT std::error_code make_error_code(Errc code) noexcept;

/// The exception of the throwing calls. `what()` names the key, the node and the cause, for example
/// `lock "orders:42" on 127.0.0.1:6379: cannot reach the server: Connection refused`.
/// Passwords never appear in it. Copying does not throw.
class HOLDFAST_EXPORT Error : public std::system_error {
 public:
  /// Without `may_pass`, what is usual for the code.
  Error(Errc code, std::string key, std::string node, std::string cause, std::optional<bool> may_pass = std::nullopt);

  const char* what() const noexcept override;
  /// The lock's name as given by the caller; empty when the failure is not about one lock.
  const std::string& key() const noexcept;
  /// The server as `host:port` or the socket's path; for a lock on several servers, `N servers (...)`; empty if there
  /// is none yet.
  const std::string& node() const noexcept;
  /// The underlying reason, in the server's or the system's words; may be empty.
  const std::string& cause() const noexcept;
  /// True if the reason may pass without a change to the call, to the settings or to the program, so that whoever
  /// promises to go on (Leader::campaign, `holdfast elect`) tries again: the server is away, is loading its data, has
  /// too few replicas or no memory, fails over, or refuses a login that it used to accept. False for what stays as it
  /// is until somebody acts: a first login that is refused, a missing permission, a key of another type, a closed
  /// client.
  bool may_pass() const noexcept;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::Errc> : std::true_type {};

namespace holdfast {

/// What the end of a Hold found.
enum class ReleaseOutcome : std::uint8_t {
  released,  ///< The server confirms: we held it without interruption, and it is now free. Also for a hold that was
             ///< given up as lost but that the server still had.
  was_lost,  ///< It was no longer ours. Work done under it may have overlapped with somebody else's.
  unknown,   ///< No answer in time. The release continues in the background; the lease bounds how long it can matter.
  left,      ///< By Hold::leave() or Hold::detach(): we held it without interruption, and it stays taken.
  empty,     ///< There was nothing to release: the Hold has never held anything, or was moved from.
};
HOLDFAST_EXPORT const char* to_string(ReleaseOutcome outcome) noexcept;

/// What a thread's release of one level found: ThisThread::release().
enum class UnlockOutcome : std::uint8_t {
  released,    ///< As ReleaseOutcome::released.
  still_held,  ///< One level of several was released; the thread still holds the lock.
  was_lost,    ///< As ReleaseOutcome::was_lost.
  unknown,     ///< As ReleaseOutcome::unknown.
};
HOLDFAST_EXPORT const char* to_string(UnlockOutcome outcome) noexcept;

/// Why a try came back without the lock. None of these is an error: they end a call that was allowed to end so.
enum class NotGranted : std::uint8_t {
  busy,       ///< Somebody else holds it, or other callers of this client wait for it, and the call did not wait.
  timed_out,  ///< Somebody else held it until the wait was over.
  stopped,    ///< The caller's stop token ended the wait.
  crowded,    ///< The limit on waiting calls (`max_waiters`) is reached, and this call would have had to wait too.
};
HOLDFAST_EXPORT const char* to_string(NotGranted reason) noexcept;

/// The states of a hold. held -> suspect (a renewal failed; back to held when one succeeds) -> lost, or released. Those
/// two are final: a lost hold stays lost when it is released. empty: there has never been one, or it was moved from.
enum class HoldState : std::uint8_t { held, suspect, lost, released, empty };
HOLDFAST_EXPORT const char* to_string(HoldState state) noexcept;

/// Why a hold was lost.
enum class LossReason : std::uint8_t {
  expired,   ///< The local deadline passed without a renewal that is known to have succeeded.
  taken,     ///< The server says that the lock is no longer ours (expired there, force release, FLUSHALL, failover).
  max_hold,  ///< The cap `max_hold` was reached; renewal has stopped.
  closed,    ///< The client was closed, or released everything (Client::release_all), while the hold was open.
  forked,    ///< This is a child process: the hold belongs to the parent.
};
HOLDFAST_EXPORT const char* to_string(LossReason reason) noexcept;

/// How a wait ended.
enum class WaitOutcome : std::uint8_t { granted, timed_out, cancelled, failed };
HOLDFAST_EXPORT const char* to_string(WaitOutcome outcome) noexcept;

/// What the operations of async.hpp complete with in place of an error code; false if there was no failure. Tokens that
/// throw (`use_awaitable`, `use_future`) throw its Error, which names the lock, the server and the cause. A value;
/// copies are cheap and do not throw.
class HOLDFAST_EXPORT Failure {
 public:
  Failure() noexcept = default;
  explicit Failure(Error error);

  explicit operator bool() const noexcept { return error_ != nullptr; }
  /// Empty if there was no failure.
  std::error_code code() const noexcept;
  /// The whole message; empty if there was no failure.
  const char* what() const noexcept;
  /// The same as an exception. Only if there was a failure.
  const Error& error() const noexcept { return *error_; }

  friend bool operator==(const Failure& failure, Errc code) noexcept { return failure.code() == code; }
  friend bool operator==(const Failure& failure, const std::error_condition& condition) noexcept {
    return failure.code() == condition;
  }

 private:
  std::shared_ptr<const Error> error_;
};

}  // namespace holdfast
