// SPDX-License-Identifier: Apache-2.0
// Whether a test can have a terminal: containers are run without them too.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <system_error>
#include <unistd.h>

namespace holdfast::test {

/// Why no pseudo-terminal can be had here; empty: one can.
inline std::optional<std::string> why_no_terminal() {
  const auto failed = [](const char* call) {
    return std::string("no terminal can be had (") + call + ": " + std::generic_category().message(errno) +
           "): is devpts mounted on /dev/pts?";
  };
  const int main_side = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (main_side < 0) return failed("posix_openpt");
  std::optional<std::string> why;
  const char* name = grantpt(main_side) == 0 && unlockpt(main_side) == 0 ? ptsname(main_side) : nullptr;
  const int other_side = name == nullptr ? -1 : open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (other_side < 0) why = failed(name == nullptr ? "ptsname" : name);
  if (other_side >= 0) close(other_side);
  close(main_side);
  return why;
}

}  // namespace holdfast::test
