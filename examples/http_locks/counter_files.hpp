// SPDX-License-Identifier: Apache-2.0
// Where the counters are: one file each.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

namespace http_locks {

/// The counters in a folder that all instances of the service share. A reader sees the old value or the new one, but
/// nothing guards an update: of two that read, add and write at the same time, one is lost. That is the lock's affair.
/// A database would be asked asynchronously; these few bytes are not worth it.
class CounterFiles {
 public:
  explicit CounterFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::optional<long> read(const std::string& key) const {
    std::ifstream file(folder_ / key);
    long value = 0;
    if (!(file >> value)) return {};
    return value;
  }

  void write(const std::string& key, long value) const {
    const std::filesystem::path next = folder_ / ("." + key + "." + std::to_string(getpid()));
    std::ofstream file(next);
    if (!(file << value << std::endl)) throw std::runtime_error("cannot write " + next.string());
    std::filesystem::rename(next, folder_ / key);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace http_locks
