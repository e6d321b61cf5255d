// SPDX-License-Identifier: Apache-2.0
// One server, and each process with a link of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/server_faults.hpp"

namespace holdfast::test::chaos {

class OneServer final : public Ground {
 public:
  std::vector<Fault> faults() const override;
  std::vector<std::string> left_out() const override;
  Access access() override;
  std::string url() const override { return StruckServer::url(server_.server().port()); }
  std::optional<Struck> strike(const Planned& planned, const std::vector<Named>& names) override;
  bool taken(const std::string& name) override;

 private:
  StruckServer server_;
};

}  // namespace holdfast::test::chaos
