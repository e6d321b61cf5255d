// SPDX-License-Identifier: Apache-2.0
// What Config::server is, for those who ask for one of its forms.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/config.hpp>

#include "base/small_file.hpp"

namespace holdfast::base {

/// Where a server without Sentinels or a cluster may be; empty: at no address.
inline std::vector<NodeAddress> addresses_of(const Config& config) {
  if (const auto* one = std::get_if<NodeAddress>(&config.server)) return {*one};
  const auto* several = std::get_if<Servers>(&config.server);
  return several != nullptr ? several->addresses : std::vector<NodeAddress>();
}

/// The path; empty: at none.
inline std::string socket_of(const Config& config) {
  const auto* socket = std::get_if<UnixSocket>(&config.server);
  return socket != nullptr ? socket->path : std::string();
}

/// Null: not behind Sentinels, and no cluster.
inline const SentinelConfig* sentinels_of(const Config& config) { return std::get_if<SentinelConfig>(&config.server); }
inline const ClusterConfig* cluster_of(const Config& config) { return std::get_if<ClusterConfig>(&config.server); }

/// The settings for one of this client's Sentinels, with their login.
inline Config at_sentinel(const Config& client, const NodeAddress& address) {
  Config config = client;
  const auto& sentinels = std::get<SentinelConfig>(client.server);
  config.username = sentinels.username;
  config.password = sentinels.password;
  config.credentials = sentinels.credentials;
  if (!config.credentials && config.password.empty() && !sentinels.password_file.empty()) {
    config.credentials = [user = config.username, path = sentinels.password_file] {
      Credentials now{.username = user};
      const std::string problem = read_file(path, "password of the Sentinels", now.password);
      if (!problem.empty()) throw std::runtime_error(problem);
      return now;
    };
  }
  config.database = 0;
  config.server = address;
  return config;
}

}  // namespace holdfast::base
