// SPDX-License-Identifier: Apache-2.0
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

/// Credentials are sent.
bool has_any(const Credentials& credentials) { return !credentials.password.empty() || !credentials.username.empty(); }

void add_checks_of_role(const Config& config, std::vector<base::Command>& commands) {
  if (!must_be_primary(config)) return;
  commands.push_back({{"ROLE"}});
  commands.push_back({{"CLIENT", "CAPA", "redirect"}});
}

/// The first refusal among so many replies, as an outcome.
LoginOutcome judge_required(const std::vector<base::Reply>& replies, std::size_t required) {
  LoginOutcome outcome;
  for (std::size_t i = 0; i < required && i < replies.size(); ++i) {
    if (!replies[i].is_error()) continue;
    const std::string& text = replies[i].text;
    const Meaning meaning = classify(text);
    outcome.error = meaning.code;
    outcome.cause = explain(text);
    outcome.pointless = meaning.for_good();
    return outcome;
  }
  return outcome;
}

/// Valkey 9 looks whether a client has logged in before it looks whether it has such a command: then what HELLO brought
/// was not read.
bool refuses_hello(const Credentials& credentials, const std::string& refusal) {
  return refuses_resp3(refusal) || (has_any(credentials) && refusal.starts_with("NOAUTH"));
}

/// HELLO would have been answered: it may not PING, or it is busy or loading.
bool knows_ping(const std::string& refusal) {
  const Meaning meaning = classify(refusal);
  return meaning.fate == Fate::transient || refusal.starts_with("NOPERM");
}

/// Refuses a server that must be a primary and is not. If ROLE, whose reply is at `at`, is not permitted, the role in
/// HELLO's reply counts.
void judge_role(const Config& config, const std::vector<base::Reply>& replies, std::size_t at,
                const std::string& by_hello, LoginOutcome& outcome) {
  if (!must_be_primary(config)) return;
  const bool told = at < replies.size() && replies[at].is_array() && !replies[at].elements.empty();
  const std::string& role = told ? replies[at].elements.front().text : by_hello;
  if (role == kPrimary) return;
  outcome.error = Errc::read_only;
  outcome.cause = "the server is no primary, but calls itself " + (role.empty() ? "nothing" : role);
}

}  // namespace

bool must_be_primary(const Config& config) {
  const auto* several = std::get_if<Servers>(&config.server);  // without a copy: without memory, too
  return base::sentinels_of(config) != nullptr || (several != nullptr && several->addresses.size() > 1);
}

base::Command auth(const Credentials& credentials) {
  return {{"AUTH", credentials.username.empty() ? "default" : credentials.username, credentials.password}};
}

std::vector<base::Command> login_commands(const Config& config, const Credentials& credentials) {
  base::Command hello{{"HELLO", "3"}};
  if (has_any(credentials)) {
    const base::Command its = auth(credentials);
    hello.args.insert(hello.args.end(), its.args.begin(), its.args.end());
  }
  if (!config.client_name.empty()) hello.args.insert(hello.args.end(), {"SETNAME", config.client_name});
  std::vector<base::Command> commands{std::move(hello)};
  if (config.database != 0) commands.push_back({{"SELECT", std::to_string(config.database)}});
  add_checks_of_role(config, commands);
  return commands;
}

std::vector<base::Command> resp2_login_commands(const Config& config, const Credentials& credentials) {
  std::vector<base::Command> commands;
  if (has_any(credentials)) {
    const bool named = !credentials.username.empty();  // otherwise in the form that also old servers and proxies know
    commands.push_back(named ? auth(credentials) : base::Command{{"AUTH", credentials.password}});
  }
  commands.push_back({{"PING"}});
  if (config.database != 0) commands.push_back({{"SELECT", std::to_string(config.database)}});
  commands.push_back({{"CLIENT", "ID"}});
  add_checks_of_role(config, commands);
  if (!config.client_name.empty()) commands.push_back({{"CLIENT", "SETNAME", config.client_name}});
  return commands;
}

LoginOutcome judge_login(const Config& config, const std::vector<base::Reply>& replies) {
  LoginOutcome outcome = judge_required(replies, required_replies(config));
  if (outcome.error) return outcome;
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
  judge_role(config, replies, required_replies(config), role, outcome);
  return outcome;
}

LoginOutcome judge_resp2_login(const Config& config, const Credentials& credentials, std::vector<base::Reply> replies) {
  const std::size_t ping = has_any(credentials) ? 1 : 0;
  const std::size_t required = ping + 1 + (config.database != 0 ? 1U : 0U);
  if (ping < replies.size() && replies[ping].is_error() && knows_ping(replies[ping].text)) replies[ping] = {};
  LoginOutcome outcome = judge_required(replies, required);
  outcome.resp2 = true;
  outcome.clustered = std::holds_alternative<ClusterConfig>(config.server);
  if (outcome.error || replies.size() <= required) return outcome;
  outcome.client = replies[required].integer;  // of an error: 0
  judge_role(config, replies, required + 1, {}, outcome);
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

std::vector<base::Command> Login::first(Credentials credentials) {
  credentials_ = std::move(credentials);
  return config_.protocol == 2 ? begin_resp2() : login_commands(config_, credentials_);
}

std::vector<base::Command> Login::begin_resp2() {
  step_ = Step::resp2;
  return resp2_login_commands(config_, credentials_);
}

std::vector<base::Command> Login::next(const std::vector<base::Reply>& replies) {
  if (step_ == Step::hello) {
    if (!replies.empty() && replies.front().is_error() && refuses_hello(credentials_, replies.front().text)) {
      return begin_resp2();
    }
    return after_hello(judge_login(config_, replies));
  }
  if (step_ == Step::resp2) return after_hello(judge_resp2_login(config_, credentials_, replies));
  const bool asked = std::exchange(step_, Step::through) == Step::earlier_client;
  // After a restart a server may give the same id to another client, or to another lane of this one.
  if (!asked || replies.size() != 1 || !is_client(replies.front(), config_, earlier_.age)) return {};
  return {kill_client(earlier_.client)};
}

std::vector<base::Command> Login::after_hello(LoginOutcome outcome) {
  outcome_ = std::move(outcome);
  credentials_ = {};
  step_ = Step::through;
  // There was no earlier connection, or the server was restarted.
  if (outcome_.error || earlier_.client == 0 || earlier_.client == outcome_.client) return {};
  step_ = Step::earlier_client;
  return {find_client(earlier_.client)};
}

}  // namespace holdfast::redis
