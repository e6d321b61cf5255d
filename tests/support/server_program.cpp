// SPDX-License-Identifier: Apache-2.0
#include "support/server_program.hpp"

#include <cstdlib>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace holdfast::test {
namespace {

std::string asked_version() {
  Process program = start_server_program({"--version"}, {});
  const std::string said = program.read_line().value_or("");
  std::smatch parts;
  if (!std::regex_search(said, parts, std::regex(R"((\w+) server v=([\d.]+))"))) {
    throw std::runtime_error("a server of no known version: " + said);
  }
  return parts[1].str() + " " + parts[2].str();
}

std::pair<int, int> number_of(const std::string& version) {
  const std::string number = version.substr(version.find(' ') + 1);
  return {std::stoi(number), std::stoi(number.substr(number.find('.') + 1))};
}

/// Of the Redis that it began as, if it is another one.
std::pair<int, int> redis_version() {
  const std::string& version = server_version();
  if (version.starts_with("Redis ")) return number_of(version);
  return version.starts_with("KeyDB ") ? std::pair(6, 2) : std::pair(7, 2);
}

}  // namespace

Process start_server_program(const std::vector<std::string>& args, const ProcessOptions& options) {
  if (const char* program = std::getenv("HOLDFAST_REDIS_SERVER")) return {program, args, options};
  try {
    return {"redis-server", args, options};
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::no_such_file_or_directory) throw;
    return {"valkey-server", args, options};
  }
}

const std::string& server_version() {
  static const std::string version = asked_version();
  return version;
}

bool server_like_redis(int major, int minor) { return redis_version() >= std::pair(major, minor); }

bool server_is_valkey(int major, int minor) {
  const std::string& version = server_version();
  return version.starts_with("Valkey ") && number_of(version) >= std::pair(major, minor);
}

}  // namespace holdfast::test
