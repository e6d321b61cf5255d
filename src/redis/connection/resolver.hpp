// SPDX-License-Identifier: Apache-2.0
// Name look-ups that do not block the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <holdfast/config.hpp>

#include "redis/connection/aside.hpp"

namespace holdfast::redis {

using Endpoint = boost::asio::generic::stream_protocol::endpoint;

/// `10.0.0.1:6379`, `[::1]:6379`, or the path of a unix socket.
std::string to_string(const Endpoint& endpoint);

/// The system's look-up blocks its caller for any time: see Aside. Use on the loop, except for leave().
class Resolver {
 public:
  /// The most look-ups of all resolvers that run in the process at the same time.
  static constexpr int kMostInProcess = 64;
  /// Further addresses of a name are not used.
  static constexpr std::size_t kMostAddresses = 16;

  struct Located {
    NodeAddress at{};  ///< Mapped.
    std::vector<Endpoint> endpoints{};
  };
  /// The addresses, or why there are none, as text.
  using Found = std::function<void(const Located& located, const std::string& problem)>;

  explicit Resolver(const boost::asio::any_io_executor& executor);

  /// Maps it, if there is a map, and asks the name server. `found`: see Aside::ask().
  void look_up(const AddressMap& map, NodeAddress where, Found found);
  void forget() { names_.forget(); }
  /// From now on nothing is posted to the loop. From any thread.
  void leave() { names_.leave(); }

 private:
  Aside<Located> names_;
};

}  // namespace holdfast::redis
