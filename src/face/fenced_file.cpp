#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <stdexcept>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <holdfast/fenced_file.hpp>

#include "base/text.hpp"

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
  /// Stays locked until the file is closed.
  void lock() const {
    while (::flock(fd_, LOCK_EX) != 0) {
      if (errno != EINTR) fail(path_);
    }
  }
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

std::filesystem::path beside(std::filesystem::path path, const char* ending) { return path += ending; }

}  // namespace

bool FencedFile::replace(std::int64_t token, std::string_view text) const {
  const File guard(beside(path_, ".lock"), O_RDWR | O_CREAT);
  if (!guard.is_open()) fail(beside(path_, ".lock"));
  guard.lock();
  const std::optional<Contents> before = read();
  if (before && before->token > token) return false;
  const std::filesystem::path next = beside(path_, ".new");
  {
    const File file(next, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.is_open()) fail(next);
    file.write(std::to_string(token) + "\n");
    file.write(text);
    file.sync();
  }
  if (::rename(next.c_str(), path_.c_str()) != 0) fail(path_);
  // Otherwise a machine crash may bring back the old file, with its older token.
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const File entries(folder, O_RDONLY | O_DIRECTORY);
  if (!entries.is_open()) fail(folder);
  entries.sync();
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
