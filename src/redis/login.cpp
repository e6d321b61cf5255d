#include "redis/login.hpp"

#include "redis/errors.hpp"

namespace holdfast::redis {

std::vector<base::Command> login_commands(const Config& config, std::int64_t earlier_client) {
  base::Command hello{{"HELLO", "3"}};
  if (!config.password.empty() || !config.username.empty()) {
    const std::string& user = config.username.empty() ? "default" : config.username;
    hello.args.insert(hello.args.end(), {"AUTH", user, config.password});
  }
  if (!config.client_name.empty()) hello.args.insert(hello.args.end(), {"SETNAME", config.client_name});
  std::vector<base::Command> commands{std::move(hello)};
  if (config.database != 0) commands.push_back({{"SELECT", std::to_string(config.database)}});
  if (earlier_client != 0) commands.push_back({{"CLIENT", "KILL", "ID", std::to_string(earlier_client)}});
  return commands;
}

LoginOutcome judge_login(const Config& config, const std::vector<base::Reply>& replies) {
  LoginOutcome outcome;
  const std::size_t required = config.database != 0 ? 2 : 1;
  // A CLIENT KILL that is not permitted is not a failure: what it guards against is bounded by the lease.
  for (std::size_t i = 0; i < required && i < replies.size(); ++i) {
    if (!replies[i].is_error()) continue;
    const std::string& text = replies[i].text;
    outcome.error = classify(text);
    outcome.cause = text;
    outcome.pointless = !is_transient(text);
    if (outcome.error == Errc::unsupported_by_server && text.find("HELLO") != std::string::npos) {
      outcome.cause += " (Redis 6 or later is needed)";
    }
    return outcome;
  }
  if (replies.empty() || !replies.front().is_array()) {
    outcome.error = Errc::unsupported_by_server;
    outcome.cause = "HELLO 3 was not understood; Redis 6 or later is needed";
    outcome.pointless = true;
    return outcome;
  }
  const std::vector<base::Reply>& facts = replies.front().elements;
  for (std::size_t i = 0; i + 1 < facts.size(); i += 2) {
    if (facts[i].text == "id") outcome.client = facts[i + 1].integer;
  }
  return outcome;
}

}  // namespace holdfast::redis
