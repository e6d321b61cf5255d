// SPDX-License-Identifier: Apache-2.0
// A temporary folder.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "testing/server_start.hpp"

namespace holdfast::private_server {

/// A folder that only this user can enter; removed with this object.
class Folder {
 public:
  Folder() {
    const char* temporary = std::getenv("TMPDIR");
    path_ = std::string(temporary && *temporary == '/' ? temporary : "/tmp") + "/holdfast-test-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      throw denied(files(), "cannot create the folder " + path_ + ": " + std::generic_category().message(errno));
    }
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Files files() const { return files_in(path_); }

 private:
  std::string path_;
};

}  // namespace holdfast::private_server
