// What a lane says first on a new connection, and what it makes of the answer.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"

namespace holdfast::redis {

/// HELLO 3 with credentials and name, SELECT if a database is chosen, and CLIENT KILL of the lane's earlier connection
/// (0: there was none).
std::vector<base::Command> login_commands(const Config& config, std::int64_t earlier_client);

struct LoginOutcome {
  std::error_code error;  ///< Set: the login failed.
  std::string cause;
  bool pointless = false;   ///< Trying again will not help.
  std::int64_t client = 0;  ///< This connection's client id.
};
LoginOutcome judge_login(const Config& config, const std::vector<base::Reply>& replies);

}  // namespace holdfast::redis
