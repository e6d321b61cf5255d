// SPDX-License-Identifier: Apache-2.0
// The part of async.hpp that is about semaphores and latches. Not for users.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include <holdfast/detail/async_calls.hpp>

namespace holdfast {

namespace detail {

template <class Result, class Token>
auto initiate_counting(const PartsPtr& parts, Counting what, std::int64_t number, Token&& token) {
  return initiate<Failure, Result>(
      home(parts),
      [parts, what, number](auto receiver) { return make_counting(parts, what, number, std::move(receiver)); },
      std::forward<Token>(token), changes(what) ? kReleases : asio::cancellation_type::all);
}

template <class Token>
auto initiate_pass(const PartsPtr& parts, std::int64_t permits, Token&& token) {
  return initiate<Failure>(
      home(parts), [parts, permits](auto receiver) { return make_pass(parts, permits, {}, std::move(receiver)); },
      std::forward<Token>(token));
}

template <class Token>
auto initiate_pass_in_time(const PartsPtr& parts, std::int64_t permits, std::chrono::milliseconds wait, Token&& token) {
  return initiate<Failure, bool>(
      home(parts),
      [parts, permits, wait](auto receiver) {
        return make_pass_in_time(parts, permits, wait, {}, std::move(receiver));
      },
      std::forward<Token>(token));
}

}  // namespace detail

template <class Token>
auto Semaphore::async_acquire(std::int64_t permits, Token&& token) const {
  return detail::initiate_pass(parts_, permits, std::forward<Token>(token));
}

template <class Token>
auto Semaphore::async_try_acquire(std::int64_t permits, Token&& token) const {
  return detail::initiate_pass_in_time(parts_, permits, {}, std::forward<Token>(token));
}

template <class Token>
auto Semaphore::async_try_acquire_for(std::chrono::milliseconds wait, std::int64_t permits, Token&& token) const {
  return detail::initiate_pass_in_time(parts_, permits, wait, std::forward<Token>(token));
}

template <class Token>
auto Semaphore::async_release(std::int64_t permits, Token&& token) const {
  return detail::initiate_counting<bool>(parts_, detail::Counting::release, permits, std::forward<Token>(token));
}

template <class Token>
auto Semaphore::async_available(Token&& token) const {
  return detail::initiate_counting<std::int64_t>(parts_, detail::Counting::available, 0, std::forward<Token>(token));
}

template <class Token>
auto Semaphore::async_init(std::int64_t permits, Token&& token) const {
  return detail::initiate_counting<bool>(parts_, detail::Counting::init, permits, std::forward<Token>(token));
}

template <class Token>
auto Semaphore::async_add(std::int64_t permits, Token&& token) const {
  return detail::initiate_counting<std::int64_t>(parts_, detail::Counting::add, permits, std::forward<Token>(token));
}

template <class Token>
auto Semaphore::async_drain(Token&& token) const {
  return detail::initiate_counting<std::int64_t>(parts_, detail::Counting::drain, 0, std::forward<Token>(token));
}

template <class Token>
auto Semaphore::async_remove(Token&& token) const {
  return detail::initiate_counting<bool>(parts_, detail::Counting::remove, 0, std::forward<Token>(token));
}

template <class Token>
auto Latch::async_wait(Token&& token) const {
  return detail::initiate_pass(parts_, 1, std::forward<Token>(token));
}

template <class Token>
auto Latch::async_wait_for(std::chrono::milliseconds wait, Token&& token) const {
  return detail::initiate_pass_in_time(parts_, 1, wait, std::forward<Token>(token));
}

template <class Token>
auto Latch::async_count_down(std::int64_t steps, Token&& token) const {
  return detail::initiate_counting<std::int64_t>(parts_, detail::Counting::count_down, steps,
                                                 std::forward<Token>(token));
}

template <class Token>
auto Latch::async_try_wait(Token&& token) const {
  return detail::initiate_pass_in_time(parts_, 1, {}, std::forward<Token>(token));
}

template <class Token>
auto Latch::async_count(Token&& token) const {
  return detail::initiate_counting<std::int64_t>(parts_, detail::Counting::count, 0, std::forward<Token>(token));
}

template <class Token>
auto Latch::async_init(std::int64_t steps, Token&& token) const {
  return detail::initiate_counting<bool>(parts_, detail::Counting::init_latch, steps, std::forward<Token>(token));
}

template <class Token>
auto Latch::async_remove(Token&& token) const {
  return detail::initiate_counting<bool>(parts_, detail::Counting::remove_latch, 0, std::forward<Token>(token));
}

template <class Token>
auto LeasedSemaphore::async_available(Token&& token) const {
  return detail::initiate_counting<std::int64_t>(parts(), detail::Counting::available_leased, 0,
                                                 std::forward<Token>(token));
}

template <class Token>
auto LeasedSemaphore::async_init(std::int64_t permits, Token&& token) const {
  return detail::initiate_counting<bool>(parts(), detail::Counting::init_leased, permits, std::forward<Token>(token));
}

template <class Token>
auto LeasedSemaphore::async_set_total(std::int64_t permits, Token&& token) const {
  return detail::initiate_counting<std::int64_t>(parts(), detail::Counting::set_total, permits,
                                                 std::forward<Token>(token));
}

template <class Token>
auto LeasedSemaphore::async_add(std::int64_t permits, Token&& token) const {
  return detail::initiate_counting<std::int64_t>(parts(), detail::Counting::add_leased, permits,
                                                 std::forward<Token>(token));
}

template <class Token>
auto LeasedSemaphore::async_remove(Token&& token) const {
  return detail::initiate_counting<bool>(parts(), detail::Counting::remove_leased, 0, std::forward<Token>(token));
}

}  // namespace holdfast
