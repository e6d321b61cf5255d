// The callers to be woken once everything that a piece of work had to send has been sent.
#pragma once

#include <array>
#include <cstddef>

#include "base/futex.hpp"

namespace holdfast::engine {

/// For whoever has the wheel.
class WakeList {
 public:
  static constexpr std::size_t kMost = 64;

  /// False: there is no room.
  bool add(const base::Word& word) noexcept {
    if (count_ == kMost) return false;
    words_[count_++] = &word;
    return true;
  }

  /// Wakes all in order, also those that are added meanwhile. `after` is called after each with the number of those
  /// that have been woken, and may add more.
  template <class After>
  void wake_all(After after) noexcept {
    for (std::size_t woken = 0; woken < count_;) {
      base::wake_at(words_[woken]);
      after(++woken);
    }
    count_ = 0;
  }

 private:
  std::array<const base::Word*, kMost> words_{};
  std::size_t count_ = 0;
};

}  // namespace holdfast::engine
