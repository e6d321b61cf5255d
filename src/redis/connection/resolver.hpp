// Name look-ups that nobody has to wait for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "redis/connection/aside.hpp"

namespace holdfast::redis {

using Endpoint = boost::asio::generic::stream_protocol::endpoint;

/// `10.0.0.1:6379`, `[::1]:6379`, or the path of a unix socket.
std::string to_string(const Endpoint& endpoint);

/// The system looks names up while its caller waits, for as long as it likes: see Aside. On the loop, but for its end.
class Resolver {
 public:
  /// At most so many look-ups of all resolvers in the process are under way.
  static constexpr int kMostInProcess = 64;
  /// More addresses of a name are not used.
  static constexpr std::size_t kMostAddresses = 16;

  /// The addresses, or in words why there are none.
  using Found = std::function<void(std::vector<Endpoint> endpoints, const std::string& problem)>;

  explicit Resolver(const boost::asio::any_io_executor& executor);

  /// Asks the name server. `found`: see Aside::ask().
  void look_up(const std::string& host, std::uint16_t port, Found found);
  void forget() { names_.forget(); }
  /// From any thread: nothing is posted to the loop any more.
  void leave() { names_.leave(); }

 private:
  Aside<std::vector<Endpoint>> names_;
};

}  // namespace holdfast::redis
