// SPDX-License-Identifier: Apache-2.0
// Makes a connected socket: asks for the server's address, looks up the name, tries its addresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "base/clock.hpp"
#include "loop/alarm.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/resolver.hpp"
#include "redis/connection/stage.hpp"

namespace holdfast::redis {

/// Which of a server's addresses to try, when, and in which order. Pure; the time is an input. The addresses of a name
/// are tried one after the other, each a little later than the one before, or at once when that one has refused;
/// earlier attempts continue, and the first to connect wins (as in RFC 8305). So an address that never answers costs a
/// quarter of a second, not the whole time for connecting.
class AddressRace {
 public:
  static constexpr base::Duration kHeadStart = std::chrono::milliseconds(250);

  /// All are tried in the first half of `limit`.
  AddressRace(std::size_t addresses, base::Duration limit)
      : addresses_(addresses),
        head_start_(
            std::min(kHeadStart, limit / 2 / static_cast<base::Duration::rep>(std::max<std::size_t>(1, addresses)))) {}

  struct Step {
    std::optional<std::size_t> dial;        ///< Dial this one now.
    std::optional<base::TimePoint> look{};  ///< on_time() is due then, unless something else happens first.
    bool lost = false;                      ///< None is left.
  };

  Step start(base::TimePoint now) { return dial(now); }
  Step on_time(base::TimePoint now) { return dial(now); }
  /// One of the dialled addresses has refused.
  Step on_refused(base::TimePoint now) {
    --dialled_;
    return dial(now);
  }

 private:
  Step dial(base::TimePoint now) {
    if (next_ == addresses_) return {.dial = {}, .lost = dialled_ == 0};
    ++dialled_;
    Step step{.dial = next_++};
    if (next_ < addresses_) step.look = now + head_start_;
    return step;
  }

  const std::size_t addresses_;
  const base::Duration head_start_;
  std::size_t next_ = 0;
  std::size_t dialled_ = 0;  // and not refused
};

/// The order in which to try addresses: that of the name server, but with alternating families, since one of them may
/// not be reachable; `last` comes last.
template <class Address, class Family>
std::vector<Address> in_turn(const std::vector<Address>& addresses, Family family, const std::optional<Address>& last) {
  std::vector<Address> same, other, order;
  for (const Address& each : addresses) {
    if (each != last) (family(each) == family(addresses.front()) ? same : other).push_back(each);
  }
  for (std::size_t i = 0; i < std::max(same.size(), other.size()); ++i) {
    if (i < same.size()) order.push_back(same[i]);
    if (i < other.size()) order.push_back(other[i]);
  }
  if (last && order.size() < addresses.size()) order.push_back(*last);
  return order;
}

/// On the loop. Has no time limit: the owner calls stop().
class Dialer : public std::enable_shared_from_this<Dialer> {
 public:
  using ErrorCode = boost::system::error_code;
  using Socket = boost::asio::generic::stream_protocol::socket;
  /// A connected socket, or why there is none, as text.
  using Done = std::function<void(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem)>;

  /// `last`: the address to try after all others, because it was of no use recently. The references outlive it.
  Dialer(timing::Schedule& schedule, const Config& config, EndpointSource& source, Resolver& resolver,
         std::optional<Endpoint> last, Done done)
      : executor_(schedule.executor()),
        config_(config),
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
  /// The host that it was mapped to; the same without a map.
  const std::string& host() const { return host_; }
  /// The server is given by a name, or mapped, and not by the address that is dialled.
  bool named() const { return named_; }
  Stage stage() const { return race_ ? Stage::connect : Stage::look_up; }
  /// What it waits for; a text to follow "no".
  std::string missing() const;

 private:
  void on_address(std::optional<ServerAddress> address, const std::string& problem);
  void on_found(const Resolver::Located& located, const std::string& problem);
  void take(const AddressRace::Step& step);
  void on_alarm();
  void dial(std::size_t index);
  void on_dialled(std::size_t index, ErrorCode error);
  void finish(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem);

  const boost::asio::any_io_executor executor_;
  const Config& config_;  // until stop()
  EndpointSource& source_;
  Resolver& resolver_;
  const std::optional<Endpoint> last_;
  Done done_;  // empty: it has ended
  std::vector<Endpoint> endpoints_;
  std::optional<AddressRace> race_;
  std::vector<std::optional<Socket>> calls_;  // one for each endpoint, while it is tried
  timing::Alarm alarm_;
  ServerAddress address_;
  std::string host_;
  bool asking_ = false;  // the source
  bool named_ = false;
  bool looking_up_ = false;
  std::string refusals_;
};

}  // namespace holdfast::redis
