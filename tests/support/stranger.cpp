// SPDX-License-Identifier: Apache-2.0
#include "support/stranger.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace holdfast::test {
namespace {

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Fd listen_on(std::uint16_t port, int backlog) {
  Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback_address(port);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), backlog) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot listen");
  }
  return listener;
}

bool is_ready(int fd, short events, int milliseconds) {
  pollfd poll_fd{fd, events, 0};
  return poll(&poll_fd, 1, milliseconds) > 0;
}

struct Connection {
  Fd fd;
  std::string words;     // to be said
  std::size_t said = 0;  // of them
  bool begun = false;
};

}  // namespace

Stranger::Stranger(std::string first, Manner manner, std::string rest)
    : first_(std::move(first)), rest_(std::move(rest)), manner_(manner), listener_(listen_on(port_.port(), 16)) {
  thread_ = std::thread([this] { run(); });
}

Stranger::~Stranger() {
  over_ = true;
  thread_.join();
}

void Stranger::run() {
  std::vector<Connection> connections;
  std::array<char, 4096> heard{};
  while (!over_) {
    bool idle = true;
    if (is_ready(listener_.get(), POLLIN, 0)) {
      connections.push_back({Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)), first_});
      ++accepted_;
    }
    for (Connection& each : connections) {
      if (!each.fd.valid()) continue;
      const ssize_t got = recv(each.fd.get(), heard.data(), heard.size(), 0);
      if (got == 0 || (got < 0 && errno != EAGAIN)) each.fd.reset();
      each.begun = each.begun || got > 0;
      if (!each.begun || !each.fd.valid()) continue;
      const ssize_t sent =
          send(each.fd.get(), each.words.data() + each.said, each.words.size() - each.said, MSG_NOSIGNAL);
      if (sent > 0) {
        each.said += static_cast<std::size_t>(sent);
        idle = false;
      }
      if (each.said < each.words.size()) continue;
      if (manner_ == Manner::hangs_up) each.fd.reset();
      each.words = manner_ == Manner::without_end ? rest_ : "";
      each.said = 0;
    }
    if (idle) is_ready(listener_.get(), POLLIN, 2);
  }
}

BlackHole::BlackHole() : listener_(listen_on(port_.port(), 0)) {
  const sockaddr_in address = loopback_address(port_.port());
  for (int full = 0; full < 2;) {
    Fd& link = queue_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    connect(link.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    full = is_ready(link.get(), POLLOUT, 100) ? 0 : full + 1;  // twice in a row: it was not just slow
  }
}

}  // namespace holdfast::test
