#include "cli/metrics_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/fd.hpp"

namespace holdfast::cli {
namespace {

[[noreturn]] void throw_errno() { throw std::system_error(errno, std::generic_category()); }

/// A name unique to this process, which collectors do not read (not *.prom).
std::string beside(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format(".{}.{}", whole.filename().string(), getpid())).string();
}

void write_to(const std::string& path, const std::string& text) {
  constexpr mode_t kForEverybody = 0644;  // the collector is another user
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kForEverybody));
  if (file.get() < 0) throw_errno();
  write_all(file.get(), text);
}

void replace(const std::string& path, const std::string& text) {
  const std::string fresh = beside(path);
  unlink(fresh.c_str());  // from an earlier process with the same id
  try {
    write_to(fresh, text);
    if (rename(fresh.c_str(), path.c_str()) != 0) throw_errno();
  } catch (...) {
    unlink(fresh.c_str());
    throw;
  }
}

}  // namespace

void write_metrics_file(const std::string& path, const Metrics& metrics, const Console& console) noexcept {
  try {
    try {
      std::ostringstream text;
      metrics.write_prometheus(text);
      replace(path, text.str());
    } catch (const std::system_error& error) {
      console.note(fmt::format("--metrics-file: cannot write {}: {}", printable(path), error.code().message()));
    } catch (const std::exception& error) {
      console.note(fmt::format("--metrics-file: cannot write {}: {}", printable(path), error.what()));
    }
  } catch (...) {
    // Out of memory, so it cannot be reported.
  }
}

}  // namespace holdfast::cli
