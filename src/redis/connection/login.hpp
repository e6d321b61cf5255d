// What a lane says first on a new connection, and what it makes of the answer.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/resp.hpp"

namespace holdfast::redis {

/// The server may turn out to be another one than is wanted: it must say that it is a primary.
bool must_be_primary(const Config& config);
/// HELLO 3 with credentials and the name, and SELECT if a database is chosen. Where the server must be a primary, ROLE,
/// and the announcement that REDIRECT is understood, which most servers refuse.
std::vector<base::Command> login_commands(const Config& config, const Credentials& credentials);
/// The same with those of the configuration.
std::vector<base::Command> login_commands(const Config& config);
/// On a living connection: from now on with these.
base::Command auth(const Credentials& credentials);

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
/// A lane's earlier connection.
struct EarlierConnection {
  std::int64_t client = 0;  ///< Its client id; 0: there was none.
  base::Duration age{};     ///< How long ago its login was through.
};
/// True if the reply to find_client shows a client of our name, which only the lanes of this client have, and as old as
/// this: the other lanes of this client to a server that has counted anew are younger. False as well if we have no
/// name, or the server does not tell (no permission, before Redis 6.2).
bool is_client(const base::Reply& reply, const Config& config, base::Duration age);

/// The login of one connection, step by step: HELLO, and then the end of the lane's earlier connection, if there was
/// one and the server still has it.
class Login {
 public:
  /// The configuration outlives it.
  Login(const Config& config, EarlierConnection earlier) : config_(config), earlier_(earlier) {}

  /// What is sent first.
  std::vector<base::Command> first(const Credentials& credentials) const {
    return login_commands(config_, credentials);
  }
  std::vector<base::Command> first() const { return login_commands(config_); }
  /// Takes the replies to what was sent last. What is to be sent next; nothing: it has failed, or is through.
  std::vector<base::Command> next(const std::vector<base::Reply>& replies);
  /// Of HELLO.
  const LoginOutcome& outcome() const { return outcome_; }

 private:
  enum class Step { hello, earlier_client, through };

  std::vector<base::Command> after_hello(const std::vector<base::Reply>& replies);

  const Config& config_;
  const EarlierConnection earlier_;
  Step step_ = Step::hello;
  LoginOutcome outcome_;
};

}  // namespace holdfast::redis
