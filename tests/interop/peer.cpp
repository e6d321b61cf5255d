// SPDX-License-Identifier: Apache-2.0
#include "peer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "support/paths.hpp"

namespace holdfast::test {
namespace {

/// The first line of a file; empty if there is none.
std::string first_line(const std::string& file) {
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  return line;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Peer::Peer(std::string id) : id_(std::move(id)) {}

std::string Peer::file(std::string_view name) const {
  const std::string elsewhere = environment("HOLDFAST_PEERS_DIR");
  const std::string folder = elsewhere.empty() ? source_path("build/peers") : elsewhere;
  return folder + "/" + id_ + "/" + std::string(name);
}

std::string Peer::version() const {
  const std::string version = first_line(file("version"));
  return version.empty() ? id_ : version;
}

bool Peer::at_least(int major, int minor, int patch) const {
  const std::string text = version();
  std::array<int, 3> number{};
  std::sscanf(text.c_str() + std::min(text.find_first_of("0123456789"), text.size()), "%d.%d.%d", &number[0],
              &number[1], &number[2]);
  return number >= std::array{major, minor, patch};
}

bool Peer::can(std::string_view ability) const {
  std::ifstream in(file("can"));
  if (!in) throw std::runtime_error("nobody has asked " + id_ + " what it can do (tools/peers)");
  for (std::string line; std::getline(in, line);) {
    if (line == ability) return true;
  }
  return false;
}

std::string Peer::why_not() const {
  if (std::filesystem::exists(file("run"))) return {};
  const std::string reason = first_line(file("skipped"));
  return reason.empty() ? "not built (tools/peers)" : reason;
}

bool Peer::required() { return environment("HOLDFAST_PEERS") == "required"; }

std::unique_ptr<Taker> Peer::start() const { return std::make_unique<Taker>(program(), std::vector<std::string>{}); }

}  // namespace holdfast::test
