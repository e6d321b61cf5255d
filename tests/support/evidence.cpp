// SPDX-License-Identifier: Apache-2.0
#include "support/evidence.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sys/utsname.h>
#include <thread>

#include "support/paths.hpp"

namespace holdfast::test {
namespace {

/// Not by Process: the simulator takes the calls that it makes for its own.
std::string commit() {
  if (const char* given = std::getenv("HOLDFAST_COMMIT")) return given;
  std::string said;
  const std::string command = "git -C '" + source_path("") + "' describe --always --dirty=+ --exclude '*' 2>/dev/null";
  FILE* const git = popen(command.c_str(), "r");
  if (git != nullptr) {
    for (int c = std::fgetc(git); c != EOF && c != '\n'; c = std::fgetc(git)) said += static_cast<char>(c);
    pclose(git);
  }
  return said.empty() ? "unknown" : said;
}

std::string utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// `Linux 6.1.0`, without what a distribution or a cloud adds.
std::string kernel() {
  utsname system{};
  uname(&system);
  const std::string release = system.release;
  return std::string(system.sysname) + " " + release.substr(0, release.find('-'));
}

/// `2 x AMD EPYC`
std::string processors() {
  std::string model = "of an unknown model";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(std::min(line.find(':') + 2, line.size()));
    break;
  }
  return std::to_string(std::thread::hardware_concurrency()) + " x " + model;
}

std::string field(std::string_view name, std::string_view value) { return json_text(name) + ":" + json_text(value); }

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string origin(std::string_view part, std::string_view server) {
  std::string out = field("part", part) + "," + field("commit", commit()) + "," + field("at", utc()) + "," +
                    field("kernel", kernel()) + "," + field("processors", processors());
  if (!server.empty()) out += "," + field("server", server);
  return out;
}

void remember_commit() { setenv("HOLDFAST_COMMIT", commit().c_str(), 1); }

void append_evidence(std::string_view part, std::string_view figures, std::string_view server) {
  const char* const named = std::getenv("HOLDFAST_EVIDENCE");
  const std::filesystem::path file =
      named != nullptr ? named : build_path("results/evidence/" + std::string(part) + ".jsonl");
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::app) << "{" + origin(part, server) + "," + std::string(figures) + "}\n";
}

}  // namespace holdfast::test
