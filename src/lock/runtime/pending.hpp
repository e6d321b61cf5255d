// SPDX-License-Identifier: Apache-2.0
// Counts work that must end before a client is closed: attempts, and releases until their outcome.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include "base/guarded.hpp"

namespace holdfast::engine {

/// Thread-safe.
class Pending {
 public:
  /// The work lasts as long as the token and its copies.
  class Token {
   public:
    Token() = default;
    Token(const Token& other) : Token(other.pending_) {}
    Token(Token&& other) noexcept : pending_(std::exchange(other.pending_, nullptr)) {}
    Token& operator=(Token other) noexcept {
      std::swap(pending_, other.pending_);
      return *this;
    }
    ~Token() {
      if (pending_ != nullptr) pending_->end();
    }

   private:
    friend class Pending;
    explicit Token(Pending* pending) : pending_(pending) {
      if (pending_ != nullptr) pending_->count_.fetch_add(1);
    }
    Pending* pending_ = nullptr;
  };

  Token begin() { return Token(this); }
  std::size_t count() const { return count_.load(); }

  /// Calls it once, as soon as there is no work: at once, or on the thread that ends the last. Replaces an earlier
  /// callback that was not called yet; an empty one only removes that.
  void when_none(std::function<void()> callback) {
    {
      const base::Guard guard(mutex_);
      none_.swap(callback);
    }
    waiting_.store(true);
    if (count_.load() == 0) tell();
  }

 private:
  // Both sides are sequentially consistent: either the waiter sees zero, or the last token sees the waiter.
  void end() {
    if (count_.fetch_sub(1) == 1 && waiting_.load()) tell();
  }
  void tell() {
    std::function<void()> callback;
    {
      const base::Guard guard(mutex_);
      callback.swap(none_);
    }
    if (callback) callback();
  }

  std::atomic<std::size_t> count_{0};
  std::atomic<bool> waiting_{false};  // somebody waits, or has waited
  base::Mutex mutex_;
  std::function<void()> none_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engine
