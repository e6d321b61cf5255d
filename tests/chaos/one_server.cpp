// SPDX-License-Identifier: Apache-2.0
#include "chaos/one_server.hpp"

#include "support/raw.hpp"

namespace holdfast::test::chaos {

std::vector<Fault> OneServer::faults() const {
  std::vector<Fault> faults = StruckServer::faults_with_links();
  if (!with_tls()) return faults;
  // Of what passes encrypted no request can be chosen.
  std::erase_if(faults, [](Fault each) { return each == Fault::reply_lost || each == Fault::request_late; });
  faults.push_back(Fault::certificate_renewed);
  return faults;
}

std::vector<std::string> OneServer::left_out() const {
  std::vector<std::string> why;
  StruckServer::possible(&why);
  return why;
}

Access OneServer::access() {
  Access access;
  access.links.push_back(std::make_unique<Proxy>(server_.server()));
  access.url = server_.url(access.links.front()->port());
  return access;
}

std::optional<Struck> OneServer::strike(const Planned& planned, const std::vector<Named>& names) {
  return server_.strike(planned, names);
}

bool OneServer::taken(const std::string& name) { return Raw(server_.server()).exists(name); }

}  // namespace holdfast::test::chaos
