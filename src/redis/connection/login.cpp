#include "redis/connection/login.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/location.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::redis {
namespace {

/// How ROLE, and the field of HELLO, name a primary.
constexpr std::string_view kPrimary = "master";

std::size_t required_replies(const Config& config) { return config.database != 0 ? 2 : 1; }

/// The role that the server reports, if it is not a primary; empty: it is one. If ROLE is not permitted, the role in
/// HELLO's reply counts.
std::string other_role(const Config& config, const std::vector<base::Reply>& replies, const std::string& by_hello) {
  const std::size_t at = required_replies(config);
  const bool told = at < replies.size() && replies[at].is_array() && !replies[at].elements.empty();
  const std::string& role = told ? replies[at].elements.front().text : by_hello;
  return role == kPrimary ? "" : role.empty() ? "nothing" : role;
}

}  // namespace

bool must_be_primary(const Config& config) {
  const auto* several = std::get_if<Servers>(&config.server);  // without a copy: without memory, too
  return base::sentinels_of(config) != nullptr || (several != nullptr && several->addresses.size() > 1);
}

base::Command auth(const Credentials& credentials) {
  return {{"AUTH", credentials.username.empty() ? "default" : credentials.username, credentials.password}};
}

std::vector<base::Command> login_commands(const Config& config) {
  return login_commands(config, {config.username, config.password});
}

std::vector<base::Command> login_commands(const Config& config, const Credentials& credentials) {
  base::Command hello{{"HELLO", "3"}};
  if (!credentials.password.empty() || !credentials.username.empty()) {
    const base::Command its = auth(credentials);
    hello.args.insert(hello.args.end(), its.args.begin(), its.args.end());
  }
  if (!config.client_name.empty()) hello.args.insert(hello.args.end(), {"SETNAME", config.client_name});
  std::vector<base::Command> commands{std::move(hello)};
  if (config.database != 0) commands.push_back({{"SELECT", std::to_string(config.database)}});
  if (must_be_primary(config)) {
    commands.push_back({{"ROLE"}});
    commands.push_back({{"CLIENT", "CAPA", "redirect"}});
  }
  return commands;
}

LoginOutcome judge_login(const Config& config, const std::vector<base::Reply>& replies) {
  LoginOutcome outcome;
  const std::size_t required = required_replies(config);
  for (std::size_t i = 0; i < required && i < replies.size(); ++i) {
    if (!replies[i].is_error()) continue;
    const std::string& text = replies[i].text;
    const Meaning meaning = classify(text);
    outcome.error = meaning.code;
    outcome.cause = explain(text);
    outcome.pointless = meaning.for_good();
    return outcome;
  }
  if (replies.empty() || !replies.front().is_array()) {
    outcome.error = Errc::unsupported_by_server;
    outcome.cause = "HELLO 3 was not understood; Redis 6 or later is needed";
    outcome.pointless = true;
    return outcome;
  }
  const std::vector<base::Reply>& facts = replies.front().elements;
  std::string role;
  for (std::size_t i = 0; i + 1 < facts.size(); i += 2) {
    if (facts[i].text == "id") outcome.client = facts[i + 1].integer;
    if (facts[i].text == "mode") outcome.clustered = facts[i + 1].text == "cluster";
    if (facts[i].text == "role") role = facts[i + 1].text;
  }
  if (!must_be_primary(config)) return outcome;
  if (const std::string other = other_role(config, replies, role); !other.empty()) {
    outcome.error = Errc::read_only;
    outcome.cause = "the server is no primary, but calls itself " + other;
  }
  return outcome;
}

base::Command find_client(std::int64_t id) { return {{"CLIENT", "LIST", "ID", std::to_string(id)}}; }

base::Command kill_client(std::int64_t id) { return {{"CLIENT", "KILL", "ID", std::to_string(id)}}; }

bool is_client(const base::Reply& reply, const Config& config, base::Duration age) {
  if (!reply.is_text() || config.client_name.empty()) return false;
  if ((" " + reply.text).find(" name=" + config.client_name + " ") == std::string::npos) return false;
  constexpr std::string_view kAge = " age=";
  const std::size_t at = reply.text.find(kAge);
  std::int64_t seconds = 0;
  const char* const end = reply.text.data() + reply.text.size();
  if (at == std::string::npos) return false;
  if (std::from_chars(reply.text.data() + at + kAge.size(), end, seconds).ec != std::errc()) return false;
  // The server counts whole seconds, with its own clock.
  return base::Duration(std::chrono::seconds(seconds)) >= age - age / 50 - std::chrono::seconds(1);
}

std::vector<base::Command> Login::next(const std::vector<base::Reply>& replies) {
  if (step_ == Step::hello) return after_hello(replies);
  const bool asked = std::exchange(step_, Step::through) == Step::earlier_client;
  // After a restart a server may give the same id to another client, or to another lane of this one.
  if (!asked || replies.size() != 1 || !is_client(replies.front(), config_, earlier_.age)) return {};
  return {kill_client(earlier_.client)};
}

std::vector<base::Command> Login::after_hello(const std::vector<base::Reply>& replies) {
  outcome_ = judge_login(config_, replies);
  step_ = Step::through;
  // There was no earlier connection, or the server was restarted.
  if (outcome_.error || earlier_.client == 0 || earlier_.client == outcome_.client) return {};
  step_ = Step::earlier_client;
  return {find_client(earlier_.client)};
}

}  // namespace holdfast::redis
