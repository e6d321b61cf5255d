// SPDX-License-Identifier: Apache-2.0
// How a call of <holdfast.h> fails: nothing is thrown across, and the thread remembers the last failure.
#pragma once

#include <functional>
#include <holdfast.h>
#include <string>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast::c {

/// Remembers it for this thread, and returns its code.
int failed(const Failure& failure) noexcept;
/// The same for the exception that is being handled.
int failed_now() noexcept;
/// The same for an argument that cannot be: which, and what is wrong with it.
int refused(const char* what) noexcept;

/// What `failure` says, as long as that lives. An empty one: that nothing failed.
hf_error error_of(const Failure& failure) noexcept;

/// Calls it; HF_OK unless it throws, or returns another code.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
      body();
      return HF_OK;
    } else {
      return body();
    }
  } catch (...) {
    return failed_now();
  }
}

/// What a lock says when it was not granted.
Failure not_granted(NotGranted reason, std::string name);

}  // namespace holdfast::c
