// Why there is no connection, where a server has several addresses. Pure.
#pragma once

#include <string>
#include <utility>

#include <holdfast/config.hpp>

#include "redis/connection/login.hpp"

namespace holdfast::redis {

/// What is wrong with the last of several addresses is not what is wrong with all of them.
class Causes {
 public:
  /// Where the configured server is not the only one, the cause names the one that was the trouble, if it is known.
  static std::string blame(const Config& config, const std::string& server, std::string cause) {
    if (!must_be_primary(config) || server.empty() || cause.starts_with(server + ": ")) return cause;
    return server + ": " + cause;
  }
  /// The cause with those before it. `more`: another address follows.
  std::string gather(std::string cause, bool more) {
    if (!earlier_.empty()) cause = earlier_ + "; " + cause;
    earlier_ = more ? cause : std::string();
    return cause;
  }
  void clear() { earlier_.clear(); }

 private:
  std::string earlier_;  // of the addresses that were tried just before the latest
};

}  // namespace holdfast::redis
