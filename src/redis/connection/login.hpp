// SPDX-License-Identifier: Apache-2.0
// The login on a new connection: what to send, and what the replies mean.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"

namespace holdfast::redis {

/// Whether the server must confirm that it is a primary, since an address may lead to another server.
bool must_be_primary(const Config& config);
/// HELLO 3 with credentials and the name; SELECT if a database is configured. If the server must be a primary, also
/// ROLE, and the announcement that REDIRECT is understood, which most servers refuse.
std::vector<base::Command> login_commands(const Config& config, const Credentials& credentials);
/// The same in RESP2, without HELLO. PING shows that the server understands commands at all; what else a proxy may
/// refuse is not needed.
std::vector<base::Command> resp2_login_commands(const Config& config, const Credentials& credentials);
/// Changes the credentials of a logged-in connection.
base::Command auth(const Credentials& credentials);

struct LoginOutcome {
  std::error_code error;  ///< Set: the login has failed.
  std::string cause;
  bool pointless = false;   ///< A retry will not help.
  std::int64_t client = 0;  ///< This connection's client id.
  bool clustered = false;   ///< The server belongs to a cluster.
  bool resp2 = false;       ///< It speaks RESP2.
};
LoginOutcome judge_login(const Config& config, const std::vector<base::Reply>& replies);
LoginOutcome judge_resp2_login(const Config& config, const Credentials& credentials, std::vector<base::Reply> replies);

/// CLIENT LIST ID and CLIENT KILL ID, for the lane's earlier connection, whose bytes may still be under way.
base::Command find_client(std::int64_t id);
base::Command kill_client(std::int64_t id);
/// A lane's earlier connection.
struct EarlierConnection {
  std::int64_t client = 0;  ///< Its client id; 0: there was none.
  base::Duration age{};     ///< How long ago its login succeeded.
};
/// True if the reply to find_client shows a connection with our name, which only this client's lanes have, and of that
/// age: after a restart of the server, this client's other lanes are younger. Also false if we have no name, or the
/// server does not answer (no permission, or Redis before 6.2).
bool is_client(const base::Reply& reply, const Config& config, base::Duration age);

/// The login of one connection, step by step: HELLO, or what does its work in RESP2; then the end of the lane's earlier
/// connection, if the server still has it.
class Login {
 public:
  /// The configuration outlives it.
  Login(const Config& config, EarlierConnection earlier) : config_(config), earlier_(earlier) {}

  /// The first commands.
  std::vector<base::Command> first(Credentials credentials);
  /// Takes the replies to the last commands and returns the next ones; none: it has failed, or is complete.
  std::vector<base::Command> next(const std::vector<base::Reply>& replies);
  const LoginOutcome& outcome() const { return outcome_; }

 private:
  enum class Step { hello, resp2, earlier_client, through };

  std::vector<base::Command> begin_resp2();
  std::vector<base::Command> after_hello(LoginOutcome outcome);

  const Config& config_;
  Credentials credentials_;  // until they are accepted or refused
  const EarlierConnection earlier_;
  Step step_ = Step::hello;
  LoginOutcome outcome_;
};

}  // namespace holdfast::redis
