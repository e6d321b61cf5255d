// SPDX-License-Identifier: Apache-2.0
// A folder of its own for one test, removed with everything in it at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>

namespace holdfast::test {

/// Made empty in the system's folder for temporary files. In a child made by fork() the destructor leaves it alone.
class TempDir {
 public:
  TempDir() : maker_(getpid()) {
    // A socket's path must fit into 107 bytes, so a deep TMPDIR is of no use.
    const std::string base = std::filesystem::temp_directory_path().string();
    std::string pattern = (base.size() > 60 ? std::string("/tmp") : base) + "/hf-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    if (getpid() == maker_) std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  /// The path of a file in it, as text.
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  pid_t maker_;
};

}  // namespace holdfast::test
