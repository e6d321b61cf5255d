// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/endpoint_source.hpp"

#include "base/location.hpp"
#include "base/text.hpp"

namespace holdfast::redis {

std::string in_words(const ServerAddress& address) {
  if (!address.unix_socket.empty()) return address.unix_socket;
  return base::host_and_port(address.host, address.port);
}

ConfiguredEndpoint::ConfiguredEndpoint(const Config& config) {
  for (const NodeAddress& each : base::addresses_of(config)) addresses_.push_back({each.host, each.port, {}});
  if (addresses_.empty()) addresses_.push_back({{}, 0, base::socket_of(config)});
}

Prospect ConfiguredEndpoint::on_end(bool served) {
  if (served) {
    failed_ = 0;
    return Prospect::same;
  }
  latest_ = (latest_ + 1) % addresses_.size();
  failed_ = (failed_ + 1) % addresses_.size();
  return failed_ == 0 ? Prospect::same : Prospect::another;
}

}  // namespace holdfast::redis
