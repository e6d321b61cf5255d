// SPDX-License-Identifier: Apache-2.0
#include "chaos/red_lock.hpp"

#include <algorithm>

#include "support/raw.hpp"
#include "support/shared_clock.hpp"

namespace holdfast::test::chaos {

std::vector<Fault> FiveServers::faults() const {
  std::vector<Fault> faults = StruckServer::faults_with_links();
  std::erase(faults, Fault::disk_full);  // they share one
  return faults;
}

std::vector<std::string> FiveServers::left_out() const {
  std::vector<std::string> why;
  StruckServer::possible(&why);
  if (on_small_disk()) why.emplace_back("server's disk full: the five share one disk");
  return why;
}

Access FiveServers::access() {
  Access access;
  for (StruckServer& each : servers_) {
    access.links.push_back(std::make_unique<Proxy>(each.server()));
    access.url += (access.url.empty() ? "" : ",") + each.url(access.links.back()->port());
  }
  return access;
}

std::optional<Struck> FiveServers::strike(const Planned& planned, const std::vector<Named>& names) {
  return servers_[planned.target / 3 % servers_.size()].strike(planned, names);
}

bool FiveServers::taken(const std::string& name) {
  return std::ranges::any_of(servers_, [&](StruckServer& each) { return Raw(each.server()).exists(name); });
}

}  // namespace holdfast::test::chaos
