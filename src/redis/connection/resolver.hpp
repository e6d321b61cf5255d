// Name look-ups that nobody has to wait for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

namespace holdfast::redis {

using Endpoint = boost::asio::generic::stream_protocol::endpoint;

/// `10.0.0.1:6379`, `[::1]:6379`, or the path of a unix socket.
std::string to_string(const Endpoint& endpoint);

/// The system looks names up while its caller waits, for as long as it likes, and cannot be stopped. So each look-up
/// has a thread of its own, which is left behind when nobody waits for it any more; it then ends by itself and touches
/// nothing. On the loop, but for its end.
class Resolver {
 public:
  /// At most so many look-ups of one resolver, and of all in the process, are under way.
  static constexpr int kMost = 2;
  static constexpr int kMostInProcess = 64;
  /// More addresses of a name are not used.
  static constexpr std::size_t kMostAddresses = 16;

  /// The addresses, or in words why there are none.
  using Found = std::function<void(std::vector<Endpoint> endpoints, const std::string& problem)>;

  explicit Resolver(const boost::asio::any_io_executor& executor);
  /// As leave().
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Asks the name server. `found` is called on the loop, once, unless the next look_up(), forget() or leave() comes
  /// first. A look-up that is still under way from an earlier time may answer instead, if it is for the good.
  void look_up(const std::string& host, std::uint16_t port, Found found);
  void forget();
  /// From any thread: nothing is posted to the loop any more.
  void leave();

 private:
  struct Shared;
  std::string start(const std::string& host, std::uint16_t port);
  static void ask(Shared& shared, const std::string& host, const std::string& port) noexcept;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::redis
