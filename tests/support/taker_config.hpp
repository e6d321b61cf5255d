// SPDX-License-Identifier: Apache-2.0
// How the clients of a taker are made: what `connect` says, and which of the library's optimisations this run is about.
#pragma once

#include <chrono>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>

#include "taker_command.hpp"

namespace holdfast::test {

/// HOLDFAST_TEST_OPTIMISATIONS: `default` (also if it is not set), `off` or `all`; see tests/README.md. Throws
/// std::invalid_argument on anything else.
inline std::string optimisations() {
  const char* const value = std::getenv("HOLDFAST_TEST_OPTIMISATIONS");
  const std::string word = value == nullptr || *value == '\0' ? "default" : value;
  if (word == "default" || word == "off" || word == "all") return word;
  throw std::invalid_argument("HOLDFAST_TEST_OPTIMISATIONS is default, off or all, not " + word);
}

/// What every client of the suites conformance and interop starts from.
inline Config optimised_config(const std::string& url) {
  Config config = Config::from_url(url);
  const std::string which = optimisations();
  if (which == "off") config.kinds.handoff = std::chrono::milliseconds(0);
  if (which == "all") config.pipelined_release = true;
  return config;
}

/// The texts between commas.
inline std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

/// URLs with commas between them; what follows a comma and has no scheme is one more address of the same URL.
inline std::vector<std::string> split_urls(const std::string& text) {
  std::vector<std::string> urls;
  for (std::string& part : split_list(text)) {
    if (urls.empty() || part.find("://") != std::string::npos) {
      urls.push_back(std::move(part));
    } else {
      urls.back() += ',' + part;
    }
  }
  return urls;
}

/// The arguments of `connect`.
struct TakerSettings {
  explicit TakerSettings(const TakerCommand& command) {
    for (const std::string& url : split_urls(command.argument(0))) configs.push_back(optimised_config(url));
    for (std::size_t i = 1; i < command.count(); ++i) {
      const std::string& setting = command.argument(i);
      const std::size_t equals = setting.find('=');
      set(setting, setting.substr(0, equals), equals == std::string::npos ? "" : setting.substr(equals + 1));
    }
  }

  std::vector<Config> configs;  // one per server
  std::string face = "std";
  std::string kind = "lock";
  bool simple = false;  // over the SET NX PX family
  bool face_is_given = false;
  std::string events, record;  // files

 private:
  void set(const std::string& setting, const std::string& key, const std::string& value) {
    using Milliseconds = std::chrono::milliseconds;
    using Setting = Milliseconds& (*)(Config&);
    static const std::map<std::string, Setting> durations{
        {"lease_ms", [](Config& config) -> Milliseconds& { return config.lease; }},
        {"safety_poll_ms", [](Config& config) -> Milliseconds& { return config.timing.safety_poll; }},
        {"subscription_linger_ms", [](Config& config) -> Milliseconds& { return config.timing.subscription_linger; }},
        {"command_timeout_ms", [](Config& config) -> Milliseconds& { return config.timing.command_timeout; }},
        {"release_timeout_ms", [](Config& config) -> Milliseconds& { return config.timing.release_timeout; }},
        {"patience_ms", [](Config& config) -> Milliseconds& { return config.timing.patience; }},
        {"acks_timeout_ms", [](Config& config) -> Milliseconds& { return config.timing.acks_timeout; }},
        {"handoff_ms", [](Config& config) -> Milliseconds& { return config.kinds.handoff; }},
        {"fair_turn_ms", [](Config& config) -> Milliseconds& { return config.kinds.fair_turn; }},
        {"spin_max_ms", [](Config& config) -> Milliseconds& { return config.kinds.spin_max; }},
    };
    if (durations.contains(key)) {
      for (Config& config : configs) durations.at(key)(config) = Milliseconds(std::stoll(value));
    } else if (key == "acks") {
      for (Config& config : configs) config.acks = Config::from_url("redis://unused?acks=" + value).acks;
    } else if (key == "publish") {
      for (Config& config : configs)
        config.publish = Config::from_url("redis+cluster://unused?publish=" + value).publish;
    } else if (key == "name_prefix") {
      for (Config& config : configs) {
        config.name_prefix = value;
        config.fair_with_prefix = true;
      }
    } else if (key == "on_close" && value == "leave") {
      for (Config& config : configs) config.on_close = OnClose::leave_to_expire;
    } else if (key == "events") {
      events = value;
    } else if (key == "face" && (value == "std" || value == "hold" || value == "async")) {
      face = value;
      face_is_given = true;
    } else if (key == "record") {
      record = value;
    } else if (key == "pipelined_release" && (value == "yes" || value == "no")) {
      for (Config& config : configs) config.pipelined_release = value == "yes";
    } else if (key == "kind" &&
               (value == "lock" || value == "non_reentrant" || value == "simple" || value == "fenced" ||
                value == "fair" || value == "spin" || value == "leased" || value == "read_write" || value == "any" ||
                value == "multi" || value == "red" || value == "leader" || value == "by_name")) {
      kind = value;
      simple = simple || value == "simple";
    } else if (key == "over" && (value == "lock" || value == "simple")) {
      simple = simple || value == "simple";
    } else {
      throw std::invalid_argument("no such setting: " + setting);
    }
  }
};

}  // namespace holdfast::test
