// SPDX-License-Identifier: Apache-2.0
// Who keeps the system's log.
#pragma once

#include <array>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace holdfast::test {

/// Keeps what is sent to a log, as syslogd does.
class LogDaemon {
 public:
  explicit LogDaemon(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~LogDaemon() { close(socket_); }
  LogDaemon(const LogDaemon&) = delete;
  LogDaemon& operator=(const LogDaemon&) = delete;

  /// The next one that has come; empty if there is none.
  std::string take() const {
    std::array<char, 4096> bytes{};
    const ssize_t size = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return size > 0 ? std::string(bytes.data(), static_cast<std::size_t>(size)) : "";
  }

 private:
  int socket_;
};

}  // namespace holdfast::test
