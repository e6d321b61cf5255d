// A lock that is one key on one server, and what can be asked about it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/basic_lock.hpp>
#include <holdfast/export.hpp>

namespace holdfast {

namespace engine {
class Site;
}

/// What the server says of a lock.
struct LockInfo {
  std::string name;
  std::string owner;                                     ///< Empty: free.
  std::optional<std::chrono::milliseconds> remaining{};  ///< Remaining time to live; empty: free, or no expiry.
  long long holds = 0;                                   ///< Redisson's hold count; Holdfast's own holds count 1.
};

/// The common part of Lock and SimpleLock. All copies of one client, kind and name are one lock.
class HOLDFAST_EXPORT KeyLock : public BasicLock {
 public:
  /// True if anybody holds the lock. 1 command. Throws Error.
  bool is_locked() const;
  /// True if this owner (as from Hold::owner) holds the lock now, asked from the server. 1 command. Throws Error.
  bool is_held_by(const std::string& owner) const;
  /// Remaining time to live as the server says; empty if free or without expiry. 1 command. Throws Error.
  std::optional<std::chrono::milliseconds> remaining() const;
  /// Who holds it, and for how long. 2 commands in 1 write. Throws Error.
  LockInfo info() const;
  /// Takes the lock away from whoever holds it and wakes a waiter. True if it was held. 1 command. The holder learns of
  /// it with its next renewal (with a fixed lease: at its deadline or release). A key of another type is left alone
  /// (`wrong_type`). Throws Error.
  bool force_release();

  // The same without blocking, defined by async.hpp: `(Failure, T)` with the T of the blocking call.
  template <class Token = async::DefaultToken>
  auto async_is_locked(Token&& token = Token()) const;
  template <class Token = async::DefaultToken>
  auto async_is_held_by(std::string owner, Token&& token = Token()) const;
  template <class Token = async::DefaultToken>
  auto async_remaining(Token&& token = Token()) const;
  template <class Token = async::DefaultToken>
  auto async_info(Token&& token = Token()) const;
  template <class Token = async::DefaultToken>
  auto async_force_release(Token&& token = Token()) const;

 protected:
  using BasicLock::BasicLock;

 private:
  engine::Site& site() const noexcept;
};

}  // namespace holdfast
