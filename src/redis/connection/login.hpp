// What a lane says first on a new connection, and what it makes of the answer.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"

namespace holdfast::redis {

/// HELLO 3 with credentials and the name, and SELECT if a database is chosen.
std::vector<base::Command> login_commands(const Config& config);

struct LoginOutcome {
  std::error_code error;  ///< Set: the login failed.
  std::string cause;
  bool pointless = false;   ///< Trying again will not help.
  std::int64_t client = 0;  ///< This connection's client id.
  bool clustered = false;   ///< The server is one of a cluster.
};
LoginOutcome judge_login(const Config& config, const std::vector<base::Reply>& replies);

/// CLIENT LIST ID and CLIENT KILL ID: for the lane's earlier connection, whose bytes may still be under way.
base::Command find_client(std::int64_t id);
base::Command kill_client(std::int64_t id);
/// True if the reply to find_client shows a client of our name, which no other client has. False as well if we have
/// none, or the server does not tell (no permission, before Redis 6.2).
bool is_client(const base::Reply& reply, const Config& config);

}  // namespace holdfast::redis
