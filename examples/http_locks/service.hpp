// SPDX-License-Identifier: Apache-2.0
// The HTTP service.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace http_locks {

struct Settings {
  std::string url;  ///< The Redis server that has the locks.
  std::uint16_t port = 0;
  std::filesystem::path folder;  ///< The counters; the same for all instances.
};

/// Serves on 127.0.0.1 until SIGINT or SIGTERM; then no new connection is taken, requests under way are finished, and
/// it returns. A second signal ends the process at once. Prints `listening on 127.0.0.1:PORT` when it is ready.
///   POST /counters/KEY[?work=MS]   adds 1, which takes that many milliseconds, and answers with the new value
///   GET  /counters/KEY             the value
///   PUT  /documents/KEY            writes it, if the header X-Fencing-Token is not older than that of the latest
///   writer GET  /documents/KEY            what was written GET  /status                   what this instance is doing
void serve(const Settings& settings);

}  // namespace http_locks
