// SPDX-License-Identifier: Apache-2.0
// A try of which everything that can happen is one code, to be compared.
#pragma once

#include <system_error>

#include <holdfast/error.hpp>
#include <holdfast/lock.hpp>

namespace holdfast::test {

inline Errc code_of(NotGranted reason) {
  switch (reason) {
    case NotGranted::busy:
      return Errc::busy;
    case NotGranted::timed_out:
      return Errc::timed_out;
    case NotGranted::stopped:
      return Errc::cancelled;
    case NotGranted::crowded:
      break;
  }
  return Errc::crowded;
}

/// As try_acquire(); `error` says what it threw, or why the result is empty.
inline MaybeHold tried(const BasicLock& lock, const AcquireOptions& options, std::error_code& error) {
  try {
    MaybeHold hold = lock.try_acquire(options);
    error = hold.reason() ? make_error_code(code_of(*hold.reason())) : std::error_code();
    return hold;
  } catch (const Error& thrown) {
    error = thrown.code();
    return std::nullopt;
  }
}

}  // namespace holdfast::test
