// SPDX-License-Identifier: Apache-2.0
// The part of async.hpp that is about locks, holds and clients, on which its other parts stand. Not for users.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/disposition.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/version.hpp>

#include <holdfast/detail/hold_access.hpp>
#include <holdfast/detail/initiate.hpp>
#include <holdfast/detail/operation.hpp>
#include <holdfast/holdfast.hpp>

template <>
struct boost::asio::disposition_traits<holdfast::Failure> {
  static bool not_an_error(const holdfast::Failure& failure) noexcept { return !failure; }
  [[noreturn]] static void throw_exception(const holdfast::Failure& failure) { throw holdfast::Error(failure.error()); }
  static std::exception_ptr to_exception_ptr(const holdfast::Failure& failure) noexcept {
    return failure ? std::make_exception_ptr(failure.error()) : nullptr;
  }
};

// Functions that pass Boost objects are in a namespace named after Boost's version. An undefined symbol there means
// that the library was built with another Boost.
#define HOLDFAST_JOIN_(a, b) a##b
#define HOLDFAST_JOIN(a, b) HOLDFAST_JOIN_(a, b)
#define HOLDFAST_BOOST HOLDFAST_JOIN(boost_, BOOST_VERSION)

namespace holdfast {

namespace detail {
inline namespace HOLDFAST_BOOST {
/// The io_context of a client made by client_on(), otherwise null.
HOLDFAST_EXPORT boost::asio::io_context* home(const std::shared_ptr<engine::Core>& core);
HOLDFAST_EXPORT boost::asio::io_context* home(const PartsPtr& parts);
HOLDFAST_EXPORT boost::asio::io_context* home(const std::shared_ptr<engine::Claim>& held);
}  // namespace HOLDFAST_BOOST
}  // namespace detail

template <class Token>
auto BasicLock::async_acquire(AcquireOptions options, Token&& token) const {
  return detail::initiate<Failure, Hold>(
      detail::home(parts_),
      [parts = parts_, options = std::move(options)](auto receiver) mutable {
        return detail::make_acquire(parts, std::move(options), std::move(receiver));
      },
      std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, AcquireOptions>)
auto BasicLock::async_acquire(Token&& token) const {
  return async_acquire(AcquireOptions(), std::forward<Token>(token));
}

template <class Token>
auto BasicLock::async_try_acquire(AcquireOptions options, Token&& token) const {
  return detail::initiate<Failure, MaybeHold>(
      detail::home(parts_),
      [parts = parts_, options = std::move(options)](auto receiver) mutable {
        return detail::make_try_acquire(parts, std::move(options), std::move(receiver));
      },
      std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, AcquireOptions>)
auto BasicLock::async_try_acquire(Token&& token) const {
  return async_try_acquire(AcquireOptions(), std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_is_locked(Token&& token) const {
  return detail::initiate<Failure, bool>(
      detail::home(parts()),
      [parts = parts()](auto receiver) { return detail::make_is_locked(parts, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_ask_release(Token&& token) const {
  return detail::initiate<Failure, std::size_t>(
      detail::home(parts()),
      [parts = parts()](auto receiver) { return detail::make_ask_release(parts, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_is_held_by(std::string owner, Token&& token) const {
  return detail::initiate<Failure, bool>(
      detail::home(parts()),
      [parts = parts(), owner = std::move(owner)](auto receiver) {
        return detail::make_is_held_by(parts, owner, std::move(receiver));
      },
      std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_remaining(Token&& token) const {
  return detail::initiate<Failure, std::optional<std::chrono::milliseconds>>(
      detail::home(parts()),
      [parts = parts()](auto receiver) { return detail::make_remaining(parts, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto KeyLock::async_info(InfoDetail detail, Token&& token) const {
  return detail::initiate<Failure, LockInfo>(
      detail::home(parts()),
      [parts = parts(), detail](auto receiver) { return detail::make_info(parts, detail, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, InfoDetail>)
auto KeyLock::async_info(Token&& token) const {
  return async_info(InfoDetail::holder, std::forward<Token>(token));
}

template <class Token>
  requires(!std::convertible_to<Token, std::string>)
auto KeyLock::async_force_release(Token&& token) const {
  return detail::initiate<Failure, bool>(
      detail::home(parts()),
      [parts = parts()](auto receiver) { return detail::make_force_release(parts, std::move(receiver)); },
      std::forward<Token>(token), detail::kReleases);
}

template <class Token>
auto KeyLock::async_force_release(std::string owner, Token&& token) const {
  auto make = [parts = parts(), owner = std::move(owner)](auto receiver) {
    return detail::make_force_release(parts, owner, std::move(receiver));
  };
  return detail::initiate<Failure, bool>(detail::home(parts()), std::move(make), std::forward<Token>(token),
                                         detail::kReleases);
}

template <class Token>
auto KeyLock::async_adopt(std::string ticket, AdoptOptions options, Token&& token) const {
  auto make = [parts = parts(), ticket = std::move(ticket), options = std::move(options)](auto receiver) {
    return detail::make_adopt(parts, ticket, options, std::move(receiver));
  };
  return detail::initiate<Failure, Hold>(detail::home(parts()), std::move(make), std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, AdoptOptions>)
auto KeyLock::async_adopt(std::string ticket, Token&& token) const {
  return async_adopt(std::move(ticket), AdoptOptions(), std::forward<Token>(token));
}

template <class Token>
auto ReadWriteLock::async_downgrade(const Hold& hold, Token&& token) const {
  return detail::initiate<Failure>(
      detail::home(parts()),
      [parts = parts(), held = detail::HoldAccess::held(hold)](auto receiver) {
        return detail::make_downgrade(parts, held, std::move(receiver));
      },
      std::forward<Token>(token), detail::kReleases);
}

template <class Token>
auto Hold::async_release(Token&& token) {
  const std::shared_ptr<engine::Claim> held = held_;
  auto make = [hold = std::move(*this)](auto receiver) mutable {
    return detail::make_release(std::move(hold), std::move(receiver));
  };
  return detail::initiate<ReleaseOutcome>(detail::home(held), std::move(make), std::forward<Token>(token),
                                          detail::kReleases);
}

template <class Token>
auto Hold::async_extend(std::chrono::milliseconds lease, Token&& token) {
  return detail::initiate<Failure>(
      detail::home(held_),
      [held = held_, lease](auto receiver) { return detail::make_extend(held, lease, std::move(receiver)); },
      std::forward<Token>(token), detail::kReleases);
}

template <class Token>
auto Hold::async_wait_lost(Token&& token) const {
  return detail::initiate<Failure, LossReason>(
      detail::home(held_), [held = held_](auto receiver) { return detail::make_wait_lost(held, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto Client::async_ping(Token&& token) const {
  return detail::initiate<Failure>(
      detail::home(core()), [core = core_](auto receiver) { return detail::make_ping(core, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto Client::async_list(std::string pattern, InfoDetail detail, KeyForm what, Token&& token) const {
  return detail::initiate<Failure, std::vector<LockInfo>>(
      detail::home(core()),
      [core = core_, pattern = std::move(pattern), detail, what](auto receiver) {
        return detail::make_list(core, pattern, detail, what, std::move(receiver));
      },
      std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, KeyForm>)
auto Client::async_list(std::string pattern, InfoDetail detail, Token&& token) const {
  return async_list(std::move(pattern), detail, KeyForm::locks, std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, InfoDetail>)
auto Client::async_list(std::string pattern, Token&& token) const {
  return async_list(std::move(pattern), InfoDetail::holder, std::forward<Token>(token));
}

template <class Token>
auto Client::async_release_all(std::chrono::milliseconds within, Token&& token) const {
  return detail::initiate<std::size_t>(
      detail::home(core()),
      [core = core_, within](auto receiver) { return detail::make_release_all(core, within, std::move(receiver)); },
      std::forward<Token>(token), detail::kReleases);
}

template <class Token>
auto Client::async_close(Token&& token) const {
  return detail::initiate<>(
      detail::home(core()), [core = core_](auto receiver) { return detail::make_close(core, std::move(receiver)); },
      std::forward<Token>(token));
}

}  // namespace holdfast
