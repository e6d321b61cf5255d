// A lock that is one key on one server, and the queries about it.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <holdfast/basic_lock.hpp>
#include <holdfast/export.hpp>
#include <holdfast/lock_info.hpp>

namespace holdfast {

/// The common part of the locks that are one key. All handles of the same client, kind and name are one lock.
class HOLDFAST_EXPORT KeyLock : public BasicLock {
 public:
  /// See BasicLock.
  KeyLock with(AcquireOptions defaults) const { return KeyLock(parts_with(std::move(defaults))); }

  /// True if anyone holds the lock. 1 command. Throws Error, `wrong_type` if something other than a lock is there.
  bool is_locked() const;
  /// True if this owner (as from Hold::owner) holds the lock now, according to the server. 1 command. Throws Error.
  bool is_held_by(const std::string& owner) const;
  /// Remaining time to live as the server reports it; empty if free or without expiry. 1 command. Throws Error.
  std::optional<std::chrono::milliseconds> remaining() const;
  /// Who holds it, and for how long, and who waits for a FairLock. 2 commands in 1 write; then, if it is held, CLIENT
  /// LIST for `Detail::holder`, INFO and perhaps CLIENT LIST for `holder_if_cheap`, nothing more for `owner`. Throws
  /// Error as is_locked().
  LockInfo info(Detail detail = Detail::holder) const;
  /// Takes the lock away from whoever holds it and wakes a waiter. True if it was held. 1 command. The holder learns of
  /// it by a notice (Config::loss_notice) or at its next renewal (with a fixed lease: at its deadline or release).
  /// Anything that is not a lock is left alone (`wrong_type`). A Lock is recognised by its form: a hash of one owner
  /// with a count, and an expiry. A SimpleLock is any string with an expiry: if other strings may have its name, name
  /// the owner. Throws Error.
  bool force_release() const;
  /// The same, but only from this owner (as from LockInfo::owner or Hold::owner): compared and deleted in one step on
  /// the server, so that no later owner loses it. True if this owner held it; false if the lock is free or somebody
  /// else's, in which case nothing has changed. For a SimpleLock, any string with exactly this value, with or without
  /// an expiry. 1 command. Throws Error as above.
  bool force_release(const std::string& owner) const;

  /// Resumes a hold that was detached, here or in another process: checks that its owner still has the lock, and sets
  /// the lease again. The returned Hold has that owner, and its fencing token if there is one. It is renewed, with the
  /// ticket's lease, unless the options or defaults say otherwise. `wait` and `stop` have no effect here. Two holds of
  /// one ticket do not know of each other: the first release ends both. Throws Error(lost) if the server says that the
  /// lock is not that owner's; Error(unknown_outcome) without an answer: then the lease may or may not have been set,
  /// and the ticket may be tried again; Error(invalid_argument) for text that is not a ticket of this lock and kind;
  /// `closed`, `forked`, and `would_deadlock` for a client made by client_on(), which has async_adopt. 1 command.
  Hold adopt(std::string_view ticket, const AcquireOptions& options = {}) const;

  // The same without blocking, defined by async.hpp: complete with `(Failure, T)`, with the T of the blocking call.
  template <class Token = detail::DefaultToken>
  auto async_is_locked(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_is_held_by(std::string owner, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_remaining(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_info(Detail detail = Detail::holder, Token&& token = Token()) const;
  template <class Token>
    requires(!std::same_as<std::remove_cvref_t<Token>, Detail>)
  auto async_info(Token&& token) const;
  template <class Token = detail::DefaultToken>
    requires(!std::convertible_to<Token, std::string>)
  auto async_force_release(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_force_release(std::string owner, Token&& token = Token()) const;
  /// If cancelled, the lease may or may not have been set; the ticket may be tried again.
  template <class Token = detail::DefaultToken>
  auto async_adopt(std::string ticket, AcquireOptions options = {}, Token&& token = Token()) const;
  template <class Token>
    requires(!std::same_as<std::remove_cvref_t<Token>, AcquireOptions>)
  auto async_adopt(std::string ticket, Token&& token) const;

 protected:
  using BasicLock::BasicLock;
};

}  // namespace holdfast
