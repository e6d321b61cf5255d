// SPDX-License-Identifier: Apache-2.0
// What all faces have in common: what a lock's handle points to and how it is made, defaults, and how outcomes are
// reported.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/detail/parts.hpp>
#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include "lock/client/core.hpp"
#include "lock/hold/acquire.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/key_target.hpp"

namespace holdfast::face {

/// Somebody else has it, or the caller stopped waiting; anything else is a failure.
inline bool not_granted(std::error_code error) {
  return error == Errc::busy || error == Errc::timed_out || error == Errc::cancelled || error == Errc::crowded;
}
/// The same as the result of a try. Only if it is one.
NotGranted reason_of(std::error_code error);

/// What acquire() reports where try_acquire() reports `busy`: its wait was zero.
inline std::error_code as_waiting(std::error_code error) {
  return error == Errc::busy ? make_error_code(Errc::timed_out) : error;
}

Error error_about(const engine::Target& target, std::error_code error, std::string cause,
                  std::optional<bool> may_pass = std::nullopt);
/// Of an acquire that was not granted.
Error error_about(const engine::Target& target, engine::Acquired&& failed);
/// Throws Error(lost) unless it is certainly ours for at least a millisecond.
void require_valid(engine::Claim& held);

/// Fills in the options that are left out from the defaults.
AcquireOptions with_defaults(AcquireOptions options, const LockOptions& defaults);

}  // namespace holdfast::face

namespace holdfast::detail {

/// The contents of a handle; its copies share them.
struct Parts {
  std::shared_ptr<engine::Runtime> runtime;  // of the client that serves the lock
  std::shared_ptr<engine::Target> target;
  std::unique_ptr<const LockOptions> defaults;  // null: none
  wire::Ask ask{};                              // what it acquires
};

/// Access to a client's internals, for client_on() and for the libraries with connections of their own.
struct ClientAccess {
  static Client make(std::shared_ptr<engine::Core> core) noexcept { return Client(std::move(core)); }
  static engine::Core& core(const Client& client) { return *client.core(); }
};

}  // namespace holdfast::detail

namespace holdfast::face {

/// Throws Error(invalid_argument) for defaults out of range.
detail::PartsPtr make_parts(std::shared_ptr<engine::Runtime> runtime, std::shared_ptr<engine::Target> target,
                            LockOptions defaults, const wire::Ask& ask = {});
/// Whether the end of a Hold that a blocking call returns waits for the server, as the call or the handle says.
bool end_waits(const detail::Parts& parts, std::optional<bool> own = {});
/// The same lock with further defaults.
detail::PartsPtr make_parts(const detail::Parts& from, LockOptions defaults, const wire::Ask& ask);

/// For a lock that is one key.
inline engine::KeyTarget& key_target(const detail::Parts& parts) {
  return static_cast<engine::KeyTarget&>(*parts.target);
}

}  // namespace holdfast::face
