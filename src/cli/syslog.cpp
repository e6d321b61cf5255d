#include "cli/syslog.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/fd.hpp"

namespace holdfast::cli {
namespace {

constexpr int kUserMessages = 1 << 3;  // the facility

/// Where the daemon listens; HOLDFAST_SYSLOG names another place, for tests.
std::string_view place() {
  const char* other = std::getenv("HOLDFAST_SYSLOG");
  return other == nullptr ? "/dev/log" : other;
}

/// In the form of RFC 3164, which every daemon reads.
std::string packet(LogLevel level, std::string_view text) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> time{};
  // The names of months are English whatever the locale: the tool sets none.
  std::strftime(time.data(), time.size(), "%b %e %H:%M:%S", &local);
  return fmt::format("<{}>{} holdfast[{}]: {}", kUserMessages | static_cast<int>(level), time.data(), getpid(), text);
}

}  // namespace

// Does not use syslog(3), which does not report lost messages, and may block on a daemon that does not read.
bool write_to_syslog(LogLevel level, std::string_view text) noexcept try {
  const std::string_view path = place();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::ranges::copy(path, address.sun_path);
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string message = packet(level, text);
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  return sendto(socket.get(), message.data(), message.size(), MSG_NOSIGNAL, to, sizeof(address)) >= 0;
} catch (const std::exception&) {
  return false;
}

}  // namespace holdfast::cli
