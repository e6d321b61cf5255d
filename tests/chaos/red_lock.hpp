// SPDX-License-Identifier: Apache-2.0
// Five servers that do not know of each other; a lock is on all of them. Each process has a link of its own to each.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "chaos/server_faults.hpp"

namespace holdfast::test::chaos {

class FiveServers final : public Ground {
 public:
  std::vector<Fault> faults() const override;
  std::vector<std::string> left_out() const override;
  Access access() override;
  std::string url() const override { return servers_.front().url(servers_.front().server().port()); }
  std::vector<std::string> settings() const override { return {"kind=red"}; }
  bool has_room_for_others() const override { return false; }
  bool splits_votes() const override { return true; }
  /// Strikes one of them.
  std::optional<Struck> strike(const Planned& planned, const std::vector<Named>& names) override;
  bool taken(const std::string& name) override;

 private:
  std::array<StruckServer, 5> servers_;
};

}  // namespace holdfast::test::chaos
