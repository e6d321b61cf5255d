// SPDX-License-Identifier: Apache-2.0
// One server, perhaps with TLS, and each process with a link of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/server_faults.hpp"

namespace holdfast::test::chaos {

class OneServer final : public Ground {
 public:
  explicit OneServer(ServerOptions::Listen listen = ServerOptions::Listen::tcp) : server_(listen) {}

  std::vector<Fault> faults() const override;
  std::vector<std::string> left_out() const override;
  Access access() override;
  std::string url() const override { return server_.url(server_.server().port()); }
  bool has_room_for_others() const override { return !with_tls(); }
  std::optional<Struck> strike(const Planned& planned, const std::vector<Named>& names) override;
  bool taken(const std::string& name) override;

 private:
  bool with_tls() const { return server_.server().options().listen == ServerOptions::Listen::tls; }

  StruckServer server_;
};

}  // namespace holdfast::test::chaos
