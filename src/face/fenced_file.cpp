// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <stdexcept>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <holdfast/fence.hpp>

#include "base/fork_guard.hpp"
#include "base/text.hpp"
#include "system/system.hpp"

namespace holdfast {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), path.string());
}

class File {
 public:
  File(std::filesystem::path path, int flags)
      : path_(std::move(path)), fd_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int descriptor() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written < 0 && errno != EINTR) fail(path_);
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void sync() const {
    if (::fsync(fd_) != 0) fail(path_);
  }
  std::string read() const {
    std::string text;
    char part[16384];
    for (;;) {
      const ssize_t length = ::read(fd_, part, sizeof part);
      if (length == 0) return text;
      if (length > 0) text.append(part, static_cast<std::size_t>(length));
      if (length < 0 && errno != EINTR) fail(path_);
    }
  }

 private:
  const std::filesystem::path path_;
  const int fd_;
};

/// Locks a file. The lock belongs to all processes that have the open file: it is ended explicitly, and a child that is
/// forked meanwhile has no part in it. Otherwise it would last as long as the child, and nobody could write any more.
class FileLock {
 public:
  explicit FileLock(const File& file) : file_(file.descriptor()), not_for_children_(file_) {
    while (::flock(file_, LOCK_EX) != 0) {
      if (errno != EINTR) fail(file.path());
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { ::flock(file_, LOCK_UN); }

 private:
  const int file_;
  const base::NotForChildren not_for_children_;
};

/// The folder's entries, to be made durable: otherwise a machine crash may bring back the old file, with its older
/// token. Opened before anything is changed, since it is the last step that can fail.
class Entries {
 public:
  explicit Entries(const std::filesystem::path& folder) : folder_(folder, O_RDONLY | O_DIRECTORY) {
    // Whoever may write there but not list what is there syncs the whole file system instead.
    if (!folder_.is_open() && errno != EACCES) fail(folder);
  }
  void sync(const File& file) const {
    if (folder_.is_open()) return folder_.sync();
    if (system::sync_file_system(file.descriptor()) != 0) fail(file.path());
  }

 private:
  const File folder_;
};

std::filesystem::path beside(std::filesystem::path path, const char* ending) { return path += ending; }

}  // namespace

bool FencedFile::replace(std::int64_t token, std::string_view text) const {
  const File guard(beside(path_, ".lock"), O_RDWR | O_CREAT);
  if (!guard.is_open()) fail(guard.path());
  const FileLock lock(guard);
  const std::optional<Contents> before = read();
  if (before && before->token > token) return false;
  const Entries entries(path_.has_parent_path() ? path_.parent_path() : ".");
  const File next(beside(path_, ".new"), O_WRONLY | O_CREAT | O_TRUNC);
  if (!next.is_open()) fail(next.path());
  next.write(std::to_string(token) + "\n");
  next.write(text);
  next.sync();
  if (::rename(next.path().c_str(), path_.c_str()) != 0) fail(path_);
  entries.sync(next);
  return true;
}

std::optional<FencedFile::Contents> FencedFile::read() const {
  const File file(path_, O_RDONLY);
  if (!file.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    fail(path_);
  }
  std::string all = file.read();
  Contents contents;
  const std::size_t line = all.find('\n');
  const auto token = base::to_number<decltype(contents.token)>(std::string_view(all).substr(0, line));
  if (!token || line == all.npos) throw std::runtime_error(path_.string() + " does not begin with a token");
  contents.token = *token;
  contents.text = all.substr(line + 1);
  return contents;
}

}  // namespace holdfast
