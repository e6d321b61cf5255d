// SPDX-License-Identifier: Apache-2.0
// What has been compared, for docs/evidence.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/history.hpp"

namespace holdfast::test::oracle {

class Record {
 public:
  void add(const std::vector<Step>& history, bool parted);
  /// Behind those that there are, in the file of the environment's HOLDFAST_EVIDENCE or the one for this part.
  void write(std::uint64_t first_seed) const;

 private:
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::size_t histories_ = 0, steps_ = 0, differences_ = 0;
  std::map<std::string, std::size_t> commands_;
};

}  // namespace holdfast::test::oracle
