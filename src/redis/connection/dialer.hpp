// Makes a connected socket: asks for the server's address, looks up the name, tries its addresses.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "base/clock.hpp"
#include "redis/connection/address_race.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/resolver.hpp"
#include "redis/connection/stage.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// On the loop. Has no time limit: the owner calls stop().
class Dialer : public std::enable_shared_from_this<Dialer> {
 public:
  using ErrorCode = boost::system::error_code;
  using Socket = boost::asio::generic::stream_protocol::socket;
  /// A connected socket, or why there is none, as text.
  using Done = std::function<void(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem)>;

  /// `limit`: how long the owner will wait. `last`: the address to try after all others, because it was of no use
  /// recently.
  Dialer(timing::Schedule& schedule, base::Duration limit, EndpointSource& source, Resolver& resolver,
         std::optional<Endpoint> last, Done done)
      : executor_(schedule.executor()),
        limit_(limit),
        source_(source),
        resolver_(resolver),
        last_(std::move(last)),
        done_(std::move(done)),
        alarm_(schedule, [this] { on_alarm(); }) {}

  /// Calls `done` once, possibly at once, unless stop() comes first. The owner outlives that.
  void start();
  void stop();
  /// The source has given the address to dial.
  bool asked() const { return !address_.host.empty() || !address_.unix_socket.empty(); }
  /// That address.
  const ServerAddress& address() const { return address_; }
  /// The server is given by a name, not by an address.
  bool named() const { return named_; }
  Stage stage() const { return race_ ? Stage::connect : Stage::look_up; }
  /// What it waits for; a text to follow "no".
  std::string missing() const;

 private:
  void on_address(std::optional<ServerAddress> address, const std::string& problem);
  void on_found(const std::vector<Endpoint>& endpoints, const std::string& problem);
  void take(const AddressRace::Step& step);
  void on_alarm();
  void dial(std::size_t index);
  void on_dialled(std::size_t index, ErrorCode error);
  void finish(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem);

  const boost::asio::any_io_executor executor_;
  const base::Duration limit_;
  EndpointSource& source_;
  Resolver& resolver_;
  const std::optional<Endpoint> last_;
  Done done_;  // empty: it has ended
  std::vector<Endpoint> endpoints_;
  std::optional<AddressRace> race_;
  std::vector<std::optional<Socket>> calls_;  // one for each endpoint, while it is tried
  timing::Alarm alarm_;
  ServerAddress address_;
  bool asking_ = false;  // the source
  bool named_ = false;   // the host is a name
  bool looking_up_ = false;
  std::string refusals_;
};

}  // namespace holdfast::redis
