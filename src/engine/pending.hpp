// Counts work that must be over before a client is closed: attempts under way, and releases until their outcome.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/clock.hpp"

namespace holdfast::engine {

/// Thread-safe.
class Pending {
 public:
  /// The work lasts as long as the token.
  using Token = std::shared_ptr<void>;
  Token begin() {
    const std::scoped_lock guard(mutex_);
    ++count_;
    return {this, [](void* self) { static_cast<Pending*>(self)->end(); }};
  }

  /// Waits until there is none, `limit` at most.
  void wait(base::Duration limit) {
    std::unique_lock guard(mutex_);
    none_.wait_for(guard, limit, [&] { return count_ == 0; });
  }

 private:
  void end() {
    const std::scoped_lock guard(mutex_);
    if (--count_ == 0) none_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t count_ = 0;  // guarded by mutex_
};

}  // namespace holdfast::engine
