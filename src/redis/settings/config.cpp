// SPDX-License-Identifier: Apache-2.0
// The meaning of a URL's parts, and the limits of every setting.
#include <algorithm>
#include <limits>
#include <sys/un.h>
#include <variant>

#include <holdfast/config.hpp>

#include "base/duration.hpp"
#include "base/location.hpp"
#include "base/text.hpp"
#include "redis/settings/addresses.hpp"

namespace holdfast {
namespace {

using redis::Url;
using std::chrono::milliseconds;

using Member = std::variant<milliseconds Config::*, milliseconds Timing::*, milliseconds KindTiming::*>;

struct DurationSetting {
  std::string_view name;
  Member member;
  milliseconds shortest;
  enum class Source { url_and_code, code } source = Source::url_and_code;
};

/// Of a Config, const or not.
template <class Settings>
auto& value_of(Settings& config, const Member& member) {
  if (const auto* its = std::get_if<milliseconds Config::*>(&member)) return config.**its;
  if (const auto* its = std::get_if<milliseconds Timing::*>(&member)) return config.timing.**its;
  return config.kinds.*std::get<milliseconds KindTiming::*>(member);
}

constexpr DurationSetting kDurations[] = {
    {"connect_timeout", &Timing::connect_timeout, milliseconds(1)},
    {"command_timeout", &Timing::command_timeout, milliseconds(1)},
    {"release_timeout", &Timing::release_timeout, milliseconds(1)},
    {"patience", &Timing::patience, milliseconds(0)},
    {"lease", &Config::lease, milliseconds(10)},
    {"safety_poll", &Timing::safety_poll, milliseconds(1)},
    {"fair_turn", &KindTiming::fair_turn, milliseconds(100)},
    {"handoff", &KindTiming::handoff, milliseconds(0)},
    {"acks_timeout", &Timing::acks_timeout, milliseconds(1)},
    {"reconnect_min", &Timing::reconnect_min, milliseconds(1), DurationSetting::Source::code},
    {"reconnect_max", &Timing::reconnect_max, milliseconds(1), DurationSetting::Source::code},
    {"subscription_linger", &Timing::subscription_linger, milliseconds(0), DurationSetting::Source::code},
    {"poll_min", &KindTiming::poll_min, milliseconds(1), DurationSetting::Source::code},
    {"poll_max", &KindTiming::poll_max, milliseconds(1), DurationSetting::Source::code},
    {"spin_min", &KindTiming::spin_min, milliseconds(1), DurationSetting::Source::code},
    {"spin_max", &KindTiming::spin_max, milliseconds(1), DurationSetting::Source::code},
};

template <class Member>
struct Setting {
  std::string_view name;
  Member member;
};
constexpr Setting<std::string Config::*> kTexts[] = {
    {"client_name", &Config::client_name}, {"label", &Config::label}, {"name_prefix", &Config::name_prefix}};
constexpr Setting<bool Config::*> kSwitches[] = {{"loss_notice", &Config::loss_notice},
                                                 {"fair_with_prefix", &Config::fair_with_prefix},
                                                 {"wait_for_server", &Config::wait_for_server}};
constexpr Setting<std::string TlsConfig::*> kTlsTexts[] = {{"ca_file", &TlsConfig::ca_file},
                                                           {"cert_file", &TlsConfig::certificate_file},
                                                           {"key_file", &TlsConfig::key_file},
                                                           {"server_name", &TlsConfig::server_name}};

constexpr std::string_view kKnownParameters =
    "db, user, client_name, protocol, label, name_prefix, ca_file, cert_file, key_file, server_name, verify, map, "
    "map_file, "
    "sentinel_user, sentinel_password_file, connect_timeout, command_timeout, release_timeout, patience, lease, "
    "safety_poll, "
    "fair_turn, fair_with_prefix, handoff, acks, acks_timeout, loss_notice, publish and "
    "wait_for_server";

template <typename Table>
auto find_setting(const Table& table, std::string_view name) {
  const auto found = std::ranges::find_if(table, [&](const auto& setting) { return setting.name == name; });
  return found == std::end(table) ? nullptr : &*found;
}

std::string must_be(std::string_view name, std::string_view what, std::string_view value) {
  return std::string(name).append(" must be ").append(what).append(", not ").append(base::quote(value));
}

std::string read_database(std::string_view text, Config& config) {
  // The server counts databases with an int.
  const auto number = base::to_number<int>(text);
  if (number.value_or(-1) < 0) return must_be("the database", "a number from 0 on", text);
  config.database = static_cast<unsigned>(*number);
  return {};
}

std::string read_protocol(std::string_view text, Config& config) {
  if (text != "2" && text != "3") return must_be("protocol", "2 or 3", text);
  config.protocol = text == "2" ? 2 : 3;
  return {};
}

std::string read_duration(std::string_view text, const DurationSetting& setting, Config& config) {
  const auto parsed = base::parse_duration(text, base::BareNumber::refused);
  if (const auto* value = std::get_if<milliseconds>(&parsed)) {
    value_of(config, setting.member) = *value;
    return {};
  }
  if (std::get<base::BadDuration>(parsed) == base::BadDuration::too_long) {
    return std::string(setting.name) + " is longer than 10 years";
  }
  return must_be(setting.name, base::kDurationForm, text);
}

std::string read_acks(std::string_view text, Config& config) {
  constexpr std::pair<std::string_view, Acks> kWords[] = {
      {"none", Acks::none()}, {"majority", Acks::majority()}, {"all", Acks::all()}, {"aof", Acks::aof()}};
  if (const auto* word = std::ranges::find(kWords, text, &std::pair<std::string_view, Acks>::first);
      word != std::end(kWords)) {
    config.acks = word->second;
    return {};
  }
  const auto number = base::to_number<std::uint8_t>(text);
  if (!number) return must_be("acks", "none, majority, all, aof or a number of replicas up to 255", text);
  config.acks = Acks::replicas(*number);
  return {};
}

std::string read_publish(std::string_view text, Config& config) {
  constexpr std::pair<std::string_view, Publish> kWords[] = {{"auto", Publish::automatic},
                                                             {"publish", Publish::publish},
                                                             {"spublish", Publish::spublish},
                                                             {"both", Publish::both}};
  const auto* word = std::ranges::find(kWords, text, &std::pair<std::string_view, Publish>::first);
  if (word == std::end(kWords)) return must_be("publish", "auto, publish, spublish or both", text);
  config.publish = word->second;
  return {};
}

std::string read_tls_parameter(const Url::Parameter& parameter, Config& config) {
  if (!config.tls.enabled) return parameter.name + " is about TLS, so it needs a rediss:// URL";
  if (const auto* text = find_setting(kTlsTexts, parameter.name)) {
    config.tls.*text->member = parameter.value;
    return {};
  }
  using enum TlsConfig::Verify;
  constexpr std::pair<std::string_view, TlsConfig::Verify> kWords[] = {{"full", full}, {"ca", ca}, {"none", none}};
  const auto* word = std::ranges::find(kWords, parameter.value, &std::pair<std::string_view, TlsConfig::Verify>::first);
  if (word == std::end(kWords)) return must_be("verify", "full, ca or none", parameter.value);
  config.tls.verify = word->second;
  return {};
}

/// Applies one query parameter; returns what is wrong with it, or nothing.
std::string read_parameter(const Url& url, const Url::Parameter& parameter, Config& config) {
  if (parameter.name == "db") {
    return !redis::database_in_path(url).empty() ? "the database is given twice, in the path and as db"
                                                 : read_database(parameter.value, config);
  }
  if (parameter.name == "user") {
    if (!config.username.empty()) return "the user is given twice, before the '@' and as user";
    config.username = parameter.value;
    return {};
  }
  if (parameter.name == "password") {
    return "a password does not belong in the query; put it before the host, as in redis://user:password@host or "
           "unix://user:password@/path, or set Config::password";
  }
  if (parameter.name == "verify" || find_setting(kTlsTexts, parameter.name)) {
    return read_tls_parameter(parameter, config);
  }
  if (parameter.name == "map" || parameter.name == "map_file") return redis::read_map(parameter, config);
  if (parameter.name == "sentinel_user" || parameter.name.starts_with("sentinel_password")) {
    return redis::read_sentinel_parameter(url, parameter, config);
  }
  if (const auto* text = find_setting(kTexts, parameter.name)) {
    config.*text->member = parameter.value;
    return {};
  }
  if (const auto* its = find_setting(kSwitches, parameter.name)) {
    if (parameter.value != "on" && parameter.value != "off") return must_be(its->name, "on or off", parameter.value);
    config.*its->member = parameter.value == "on";
    return {};
  }
  if (parameter.name == "protocol") return read_protocol(parameter.value, config);
  if (parameter.name == "acks") return read_acks(parameter.value, config);
  if (parameter.name == "publish") return read_publish(parameter.value, config);
  const auto* duration = find_setting(kDurations, parameter.name);
  if (duration && duration->source == DurationSetting::Source::url_and_code) {
    return read_duration(parameter.value, *duration, config);
  }
  return "the query parameter " + base::quote(parameter.name) + " is unknown; known are " +
         std::string(kKnownParameters);
}

/// Applies the part before the query; returns what is wrong with it, or nothing.
std::string read_place(const Url& url, Config& config) {
  config.username = url.user;
  config.password = url.password;
  config.tls.enabled = url.scheme == Url::Scheme::rediss;
  if (std::string problem = redis::read_addresses(url, config); !problem.empty()) return problem;
  const std::string_view database = redis::database_in_path(url);
  return database.empty() ? std::string() : read_database(database, config);
}

std::string check_place(const Config& config) {
  constexpr std::string_view kNul("\0", 1);
  const std::string socket = base::socket_of(config);
  if (socket.find(kNul) != std::string::npos) return "the path of the socket contains a NUL";
  if (socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return "the path of the socket is longer than the " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
           " bytes that the system allows";
  }
  if (std::string problem = redis::check_addresses(config); !problem.empty()) return problem;
  for (const auto& text : kTlsTexts) {
    if ((config.tls.*text.member).find(kNul) != std::string::npos) return std::string(text.name) + " contains a NUL";
  }
  if (config.tls.certificate_file.empty() != config.tls.key_file.empty()) {
    return "a client certificate needs both its certificate file and its key file";
  }
  return {};
}

/// Describes the first value that is out of range; empty if there is none.
std::string check(const Config& config) {
  if (std::string problem = check_place(config); !problem.empty()) return problem;
  if (config.database > static_cast<unsigned>(std::numeric_limits<int>::max())) return "database is too large";
  if (config.protocol != 2 && config.protocol != 3) {
    return must_be("protocol", "2 or 3", std::to_string(config.protocol));
  }
  // The server's own rule for CLIENT SETNAME.
  if (!std::ranges::all_of(config.client_name, [](char c) { return c >= '!' && c <= '~'; })) {
    return must_be("client_name", "printable ASCII without spaces", config.client_name);
  }
  for (const DurationSetting& setting : kDurations) {
    const milliseconds value = value_of(config, setting.member);
    if (value < setting.shortest || value > base::kLongestDuration) {
      return std::string(setting.name) + " must be from " + std::to_string(setting.shortest.count()) +
             " ms to 10 years, not " + std::to_string(value.count()) + " ms";
    }
  }
  if (config.timing.reconnect_min > config.timing.reconnect_max) return "reconnect_min is longer than reconnect_max";
  if (config.kinds.poll_min > config.kinds.poll_max) return "poll_min is longer than poll_max";
  if (config.kinds.spin_min > config.kinds.spin_max) return "spin_min is longer than spin_max";
  if (config.kinds.spin_multiplier < 1 || config.kinds.spin_multiplier > 1000) {
    return "spin_multiplier must be from 1 to 1000, not " + std::to_string(config.kinds.spin_multiplier);
  }
  if (config.timing.node_timeout &&
      (config.timing.node_timeout->count() < 1 || *config.timing.node_timeout > base::kLongestDuration)) {
    return "node_timeout must be from 1 ms to 10 years, not " + std::to_string(config.timing.node_timeout->count()) +
           " ms";
  }
  if (config.renewal_batch < 1 || config.renewal_batch > 1000) {
    return "renewal_batch must be from 1 to 1000, not " + std::to_string(config.renewal_batch);
  }
  return {};
}

}  // namespace

Config Config::from_url(std::string_view url) {
  const Url parts = redis::parse_url(url);
  Config config;
  std::string problem = read_place(parts, config);
  for (auto parameter = parts.query.begin(); problem.empty() && parameter != parts.query.end(); ++parameter) {
    problem = read_parameter(parts, *parameter, config);
  }
  if (problem.empty()) problem = check(config);
  if (!problem.empty()) throw redis::bad_url(url, problem);
  return config;
}

void Config::validate() const {
  if (const std::string problem = check(*this); !problem.empty()) {
    throw Error(Errc::invalid_argument, "", "", problem);
  }
}

std::string Config::node() const {
  if (const auto* socket = std::get_if<UnixSocket>(&server)) return socket->path;
  if (std::holds_alternative<LocalServer>(server)) return "local:";
  if (const auto* behind = std::get_if<SentinelConfig>(&server)) {
    return redis::in_words(behind->addresses) + "/" + behind->primary;
  }
  if (const auto* nodes = std::get_if<ClusterConfig>(&server)) return "cluster " + redis::in_words(nodes->addresses);
  return redis::in_words(base::addresses_of(*this));
}

}  // namespace holdfast
