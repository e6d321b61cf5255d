// SPDX-License-Identifier: Apache-2.0
// Random calls of the kinds that count: semaphores, leased permits, latches.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "kinds/calls.hpp"
#include "oracle/draw.hpp"

namespace holdfast::test::oracle {

/// By which a server knows changes again, of all owners.
std::vector<std::string> known_again();

class CountingCalls : protected Draw {
 protected:
  using milliseconds = std::chrono::milliseconds;
  using Draw::Draw;

  /// Of few, so that many come a second time; at times of none.
  std::optional<wire::Once> once(std::string key, milliseconds remembered);
  wire::Owner with_permits();
  std::vector<std::string> semaphore(milliseconds lease);
  base::Command acquire_permits(milliseconds lease);
  base::Command renew_permits(milliseconds lease);
  std::vector<std::string> permits(milliseconds lease);
  std::vector<std::string> latch(milliseconds lease);
};

}  // namespace holdfast::test::oracle
