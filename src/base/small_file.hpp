// SPDX-License-Identifier: Apache-2.0
// Files that hold a secret, or a few lines of settings.
#pragma once

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "base/text.hpp"

namespace holdfast::base {

/// The text without the newline that editors put at the end. `what`: for messages, such as "password of the Sentinels".
/// Returns what is wrong, or nothing.
inline std::string read_file(const std::string& path, const std::string& what, std::string& text) {
  constexpr std::size_t kLargest = std::size_t{64} * 1024;
  const auto refused = [&](const std::string& why) {
    return "cannot read the " + what + " from " + quote(path) + ": " + why;
  };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refused(std::generic_category().message(errno));
  text.assign(kLargest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return refused(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargest) return refused("it is larger than 64 KiB");
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.empty() ? refused("it is empty") : "";
}

}  // namespace holdfast::base
