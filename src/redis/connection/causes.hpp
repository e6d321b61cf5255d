// Why there is no connection, if the server has several addresses. Pure.
#pragma once

#include <string>
#include <utility>

#include <holdfast/config.hpp>

#include "redis/connection/login.hpp"

namespace holdfast::redis {

/// Collects the causes of all addresses, since the last one's cause does not explain the others'.
class Causes {
 public:
  /// If there can be several servers, adds the name of the one that failed, if known.
  static std::string blame(const Config& config, const std::string& server, std::string cause) {
    if (!must_be_primary(config) || server.empty() || cause.starts_with(server + ": ")) return cause;
    return server + ": " + cause;
  }
  /// This cause after the earlier ones. `more`: another address follows.
  std::string gather(std::string cause, bool more) {
    if (!earlier_.empty()) cause = earlier_ + "; " + cause;
    earlier_ = more ? cause : std::string();
    return cause;
  }
  void clear() { earlier_.clear(); }

 private:
  std::string earlier_;  // of the addresses tried before the latest one
};

}  // namespace holdfast::redis
