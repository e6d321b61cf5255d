#include "redis/boost_settings.hpp"

#include <algorithm>

namespace holdfast::redis {

void append(boost::redis::request& bytes, const std::vector<std::string_view>& args) {
  if (args.size() == 1) {
    bytes.push(args.front());
  } else {
    bytes.push_range(args.front(), args.begin() + 1, args.end());
  }
}

void append(boost::redis::request& bytes, const base::Command& command, bool full_text) {
  std::vector<std::string_view> args;
  args.reserve(command.args.size() + 2);
  if (command.script != nullptr) {
    args.emplace_back(full_text ? "EVAL" : "EVALSHA");
    args.emplace_back(full_text ? command.script->text : command.script->sha1);
  }
  for (const std::string& arg : command.args) args.emplace_back(arg);
  append(bytes, args);
}

boost::redis::request::config request_config() {
  boost::redis::request::config config;
  config.cancel_on_connection_lost = true;
  config.cancel_if_not_connected = true;
  config.cancel_if_unresponded = true;
  return config;
}

boost::redis::config connection_config(const Config& config) {
  boost::redis::config to;
  to.use_ssl = config.tls.enabled && config.unix_socket.empty();
  to.addr = {config.host, std::to_string(config.port)};
  to.unix_socket = config.unix_socket;
  to.resolve_timeout = to.connect_timeout = config.connect_timeout;
  to.ssl_handshake_timeout = config.connect_timeout * 9 / 10;  // before the limit on all of it, so that it is named
  to.health_check_interval =
      std::clamp<std::chrono::nanoseconds>(config.lease / 10, std::chrono::seconds(1), std::chrono::seconds(10));
  to.reconnect_wait_interval = {};  // reconnecting, with back-off and jitter, is done here
  to.use_setup = true;              // and so is the login, whose replies matter
  to.setup.clear();
  return to;
}

}  // namespace holdfast::redis
