// The part of async.hpp that is about changing holds, and about a whole client. Not for users.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <holdfast/async.hpp>

namespace holdfast {

template <class Token>
auto Hold::async_extend(std::chrono::milliseconds lease, Token&& token) {
  return detail::initiate<Failure>(
      detail::home(held_),
      [held = held_, lease](auto receiver) { return detail::make_extend(held, lease, std::move(receiver)); },
      std::forward<Token>(token), detail::kReleases);
}

template <class Token>
auto KeyLock::async_adopt(std::string ticket, AcquireOptions options, Token&& token) const {
  auto make = [parts = parts(), ticket = std::move(ticket), options = std::move(options)](auto receiver) {
    return detail::make_adopt(parts, ticket, options, std::move(receiver));
  };
  return detail::initiate<Failure, Hold>(detail::home(parts()), std::move(make), std::forward<Token>(token));
}

template <class Token>
  requires(!std::same_as<std::remove_cvref_t<Token>, AcquireOptions>)
auto KeyLock::async_adopt(std::string ticket, Token&& token) const {
  return async_adopt(std::move(ticket), AcquireOptions(), std::forward<Token>(token));
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
auto Client::async_release_all(std::chrono::milliseconds within, Token&& token) const {
  return detail::initiate<std::size_t>(
      detail::home(core_),
      [core = core_, within](auto receiver) { return detail::make_release_all(core, within, std::move(receiver)); },
      std::forward<Token>(token), detail::kReleases);
}

}  // namespace holdfast
