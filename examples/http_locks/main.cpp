// SPDX-License-Identifier: Apache-2.0
// An HTTP service whose instances share counters, and a lock for each: http_locks URL PORT FOLDER (port 0: a free one).
// http_locks --try [URL] starts two instances and tries them out.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "http_locks/service.hpp"
#include "http_locks/trial.hpp"

namespace {

std::uint16_t read_port(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || *end != '\0') throw std::invalid_argument(text + " is not a port");
  return port;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && argc <= 3 && std::string(argv[1]) == "--try") {
      const char* url = argc > 2 ? argv[2] : std::getenv("HOLDFAST_URL");
      return http_locks::try_out(url ? url : "redis://127.0.0.1:6379") ? 0 : 1;
    }
    if (argc == 4) {
      http_locks::serve({.url = argv[1], .port = read_port(argv[2]), .folder = argv[3]});
      return 0;
    }
    std::fprintf(stderr, "usage: http_locks URL PORT FOLDER\n       http_locks --try [URL]\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "http_locks: %s\n", error.what());
  }
  return 2;
}
