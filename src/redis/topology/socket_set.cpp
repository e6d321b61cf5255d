#include "redis/topology/socket_set.hpp"

#include <sys/epoll.h>
#include <unistd.h>

namespace holdfast::redis {

SocketSet::SocketSet() : set_(epoll_create1(EPOLL_CLOEXEC)) {}

SocketSet::~SocketSet() {
  if (set_ >= 0) close(set_);
}

void SocketSet::add(const std::array<int, 2>& sockets) {
  for (const int socket : sockets) {
    if (set_ < 0 || socket < 0) continue;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = socket;
    epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event);
  }
}

}  // namespace holdfast::redis
