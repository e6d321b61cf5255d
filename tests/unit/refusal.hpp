// SPDX-License-Identifier: Apache-2.0
// What an action was refused with, for tests of messages.
#pragma once

#include <string>
#include <system_error>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

namespace holdfast::test {

struct Refusal {
  std::error_code code;
  std::string text;
};

template <typename Action>
Refusal refusal_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {{}, "nothing was refused"};
}

inline Refusal refusal_of_url(const std::string& url) {
  return refusal_of([&] { Config::from_url(url); });
}

}  // namespace holdfast::test
