// SPDX-License-Identifier: Apache-2.0
#include "support/port_lease.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <filesystem>
#include <netinet/in.h>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::test {
namespace {

constexpr int kFirst = 20000;
constexpr int kCount = 10000;
constexpr int kAbove = 10000;
constexpr int kCountAndAbove = 2700;  // outgoing connections begin at 32768

bool can_be_bound(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return bound;
}

}  // namespace

PortLease::PortLease(bool and_above) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("hf-ports-" + std::to_string(getuid()))).string();
  mkdir(folder.c_str(), 0700);
  std::random_device random;
  for (int tries = 0; tries < 1000; ++tries) {
    const auto port =
        static_cast<std::uint16_t>(kFirst + random() % static_cast<unsigned>(and_above ? kCountAndAbove : kCount));
    const int fd = open((folder + "/" + std::to_string(port)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) break;
    const bool free = can_be_bound(port) && (!and_above || can_be_bound(static_cast<std::uint16_t>(port + kAbove)));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && free) {
      fd_ = fd;
      port_ = port;
      return;
    }
    close(fd);
  }
  throw std::runtime_error("no free port on loopback, or no access to " + folder);
}

PortLease::~PortLease() { close(fd_); }

}  // namespace holdfast::test
