#include "redis/connection/endpoint_source.hpp"

#include "base/text.hpp"

namespace holdfast::redis {

std::string in_words(const ServerAddress& address) {
  if (!address.unix_socket.empty()) return address.unix_socket;
  return base::host_and_port(address.host, address.port);
}

ConfiguredEndpoint::ConfiguredEndpoint(const Config& config) {
  addresses_.push_back({config.host, config.port, config.unix_socket});
  for (const NodeAddress& each : config.alternatives) addresses_.push_back({each.host, each.port, {}});
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
