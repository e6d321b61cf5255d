// A word that one thread sleeps on until another one wakes it: a lock-free way to say so.
#pragma once

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace holdfast::base {

using Word = std::atomic<std::uint32_t>;
static_assert(sizeof(Word) == sizeof(std::uint32_t) && Word::is_always_lock_free);

/// Sleeps until it is woken, as long as the word still is what it was `seen` to be; for so long at most, and perhaps
/// for less. (std::atomic::wait has no limit.)
inline void sleep_on(const Word& word, std::uint32_t seen, Duration limit) noexcept {
  constexpr Duration::rep kSecond = 1'000'000'000;
  if (limit.count() <= 0) return;
  const struct {
    long seconds, nanoseconds;
  } time{static_cast<long>(limit.count() / kSecond), static_cast<long>(limit.count() % kSecond)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &time, nullptr, 0);
}

/// Wakes who sleeps on the word at this address. It is not looked at: there may be something else by now, which is
/// woken for nothing if it is such a word as well.
inline void wake_at(const Word* word) noexcept { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

}  // namespace holdfast::base
