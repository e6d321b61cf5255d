// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/dialer.hpp"

#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "system/system.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;
using base::Clock;

void Dialer::start() {
  asking_ = true;
  source_.find([self = shared_from_this()](std::optional<ServerAddress> address, const std::string& problem) {
    self->on_address(std::move(address), problem);
  });
}

void Dialer::on_address(std::optional<ServerAddress> address, const std::string& problem) {
  asking_ = false;
  if (!done_) return;
  if (!address) return finish({}, {}, problem);
  address_ = std::move(*address);
  if (!address_.unix_socket.empty()) {
    Resolver::Located here;
    here.endpoints.emplace_back(asio::local::stream_protocol::endpoint(address_.unix_socket));
    return on_found(here, {});
  }
  // An address needs no look-up.
  ErrorCode not_an_address;
  const auto ip = asio::ip::make_address(address_.host, not_an_address);
  const NodeAddress where{address_.host, address_.port};
  const AddressMap& map = config_.map_address;
  if (!not_an_address && !map) {
    Resolver::Located here{where, {}};
    here.endpoints.emplace_back(asio::ip::tcp::endpoint(ip, where.port));
    return on_found(here, {});
  }
  named_ = looking_up_ = true;
  resolver_.look_up(map, where, [self = shared_from_this()](const auto& located, const std::string& why_none) {
    self->on_found(located, why_none);
  });
}

void Dialer::on_found(const Resolver::Located& located, const std::string& problem) {
  looking_up_ = false;
  if (!done_) return;
  if (!problem.empty()) return finish({}, {}, "no address was found for " + address_.host + ": " + problem);
  host_ = located.at.host;
  endpoints_ = in_turn(located.endpoints, [](const Endpoint& each) { return each.protocol().family(); }, last_);
  calls_.resize(endpoints_.size());
  race_.emplace(endpoints_.size(), config_.timing.connect_timeout);
  take(race_->start(Clock::now()));
}

void Dialer::take(const AddressRace::Step& step) {
  alarm_.cancel();
  if (step.lost) return finish({}, {}, refusals_);
  if (step.look) alarm_.set(*step.look);
  if (step.dial) dial(*step.dial);
}

void Dialer::on_alarm() {
  const std::shared_ptr<Dialer> self = shared_from_this();
  take(race_->on_time(Clock::now()));
}

void Dialer::dial(std::size_t index) {
  const Endpoint& endpoint = endpoints_[index];
  Socket& socket = calls_[index].emplace(executor_);
  // Not made by Asio, whose sockets are inherited by child processes.
  const int fd = system::new_socket(endpoint.protocol().family(), SOCK_STREAM);
  ErrorCode error(errno, asio::error::get_system_category());
  try {
    if (fd >= 0) socket.assign(endpoint.protocol(), fd, error);
  } catch (...) {
    ::close(fd);
    throw;
  }
  if (error && fd >= 0) ::close(fd);
  if (error) return on_dialled(index, error);
  socket.async_connect(endpoint, [self = shared_from_this(), index](ErrorCode connect_error) {
    self->on_dialled(index, connect_error);
  });
}

void Dialer::on_dialled(std::size_t index, ErrorCode error) {
  if (!done_) return;
  const Endpoint endpoint = endpoints_[index];
  if (!error) return finish(std::move(calls_[index]), endpoint, {});
  calls_[index].reset();
  if (!refusals_.empty()) refusals_ += "; ";
  refusals_ += (named_ ? to_string(endpoint) + ": " : "") + error.message();
  take(race_->on_refused(Clock::now()));
}

void Dialer::finish(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem) {
  const Done done = std::exchange(done_, {});
  stop();
  done(std::move(socket), endpoint, problem);
}

void Dialer::stop() {
  done_ = {};
  if (std::exchange(asking_, false)) source_.forget();
  if (std::exchange(looking_up_, false)) resolver_.forget();
  alarm_.cancel();
  calls_.clear();
}

std::string Dialer::missing() const {
  if (asking_) return source_.missing();
  if (!race_) return "address of " + address_.host;
  std::string out;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i]) out += (out.empty() ? "connection to " : ", ") + to_string(endpoints_[i]);
  }
  return refusals_.empty() ? out : out + " (" + refusals_ + ")";
}

}  // namespace holdfast::redis
