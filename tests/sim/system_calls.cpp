// SPDX-License-Identifier: Apache-2.0
// The system calls of the library and of Asio within it, as far as they are about what a simulated process has: the
// linker (--wrap) takes these. All others go on to the system.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "sim/network.hpp"
#include "sim/process.hpp"
#include "sim/system.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cert-dcl50-cpp,readability-identifier-naming,google-runtime-int):
// names of the linker

using holdfast::test::sim::Descriptor;
using holdfast::test::sim::EventDescriptor;
using holdfast::test::sim::Network;
using holdfast::test::sim::Process;
using holdfast::test::sim::Socket;
using holdfast::test::sim::System;
using holdfast::test::sim::TimerDescriptor;

namespace {

/// As the system calls say it.
template <class Number>
Number result(Number outcome) {
  if (outcome >= 0) return outcome;
  errno = static_cast<int>(-outcome);
  return -1;
}

template <class Kind>
int made() {
  return Process::current()->system().add(std::make_unique<Kind>());
}

}  // namespace

extern "C" {

int __real_epoll_create1(int flags);
int __real_epoll_ctl(int epfd, int op, int fd, epoll_event* event);
int __real_epoll_wait(int epfd, epoll_event* events, int room, int limit);
int __real_eventfd(unsigned count, int flags);
int __real_timerfd_create(int clock, int flags);
int __real_timerfd_settime(int fd, int flags, const itimerspec* next, itimerspec* before);
int __real_socket(int family, int type, int protocol);
int __real_connect(int fd, const sockaddr* address, socklen_t length);
ssize_t __real_recv(int fd, void* to, std::size_t room, int flags);
ssize_t __real_recvmsg(int fd, msghdr* message, int flags);
ssize_t __real_send(int fd, const void* from, std::size_t count, int flags);
ssize_t __real_sendmsg(int fd, const msghdr* message, int flags);
ssize_t __real_read(int fd, void* to, std::size_t room);
ssize_t __real_write(int fd, const void* from, std::size_t count);
int __real_close(int fd);
int __real_shutdown(int fd, int how);
int __real_getsockopt(int fd, int level, int name, void* value, socklen_t* length);
int __real_setsockopt(int fd, int level, int name, const void* value, socklen_t length);
int __real_ioctl(int fd, unsigned long request, void* argument);
int __real_fcntl(int fd, int command, long argument);
pid_t __real_getpid();
int __real_gethostname(char* name, std::size_t room);

int __wrap_epoll_create1(int flags) {
  return Process::current() != nullptr ? made<Descriptor>() : __real_epoll_create1(flags);
}

int __wrap_epoll_ctl(int epfd, int op, int fd, epoll_event* event) {
  System* const system = System::of(epfd);
  return system != nullptr ? result(system->watch(epfd, fd, op, event)) : __real_epoll_ctl(epfd, op, fd, event);
}

int __wrap_epoll_wait(int epfd, epoll_event* events, int room, int limit) {
  System* const system = System::of(epfd);
  return system != nullptr ? system->take_changed(events, room) : __real_epoll_wait(epfd, events, room, limit);
}

int __wrap_eventfd(unsigned count, int flags) {
  return Process::current() != nullptr ? made<EventDescriptor>() : __real_eventfd(count, flags);
}

int __wrap_timerfd_create(int clock, int flags) {
  return Process::current() != nullptr ? made<TimerDescriptor>() : __real_timerfd_create(clock, flags);
}

/// Absolute means: at once.
int __wrap_timerfd_settime(int fd, int flags, const itimerspec* next, itimerspec* before) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_timerfd_settime(fd, flags, next, before);
  const bool at_once = (flags & TFD_TIMER_ABSTIME) != 0;
  const auto time = std::chrono::seconds(next->it_value.tv_sec) + std::chrono::nanoseconds(next->it_value.tv_nsec);
  return result(system->set_timer(fd, at_once ? holdfast::base::Duration{} : time));
}

int __wrap_socket(int family, int type, int protocol) {
  return Process::current() != nullptr ? made<Socket>() : __real_socket(family, type, protocol);
}

int __wrap_connect(int fd, const sockaddr* address, socklen_t length) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_connect(fd, address, length);
  sockaddr_in to{};
  if (address->sa_family != AF_INET || length < sizeof to) return result(-ENETUNREACH);
  std::memcpy(&to, address, sizeof to);
  system->find<Socket>(fd)->begin_to_connect();
  Network::current().dial(*Process::current(), fd, ntohl(to.sin_addr.s_addr), ntohs(to.sin_port));
  return result(-EINPROGRESS);
}

ssize_t __wrap_recv(int fd, void* to, std::size_t room, int flags) {
  System* const system = System::of(fd);
  return system != nullptr ? result(system->find<Socket>(fd)->recv(to, room)) : __real_recv(fd, to, room, flags);
}

ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_recvmsg(fd, message, flags);
  return result(system->find<Socket>(fd)->recv(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len));
}

ssize_t __wrap_send(int fd, const void* from, std::size_t count, int flags) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_send(fd, from, count, flags);
  return result(system->find<Socket>(fd)->send({static_cast<const char*>(from), count}));
}

ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_sendmsg(fd, message, flags);
  std::string bytes;
  for (std::size_t i = 0; i < message->msg_iovlen; ++i) {
    bytes.append(static_cast<const char*>(message->msg_iov[i].iov_base), message->msg_iov[i].iov_len);
  }
  return result(system->find<Socket>(fd)->send(bytes));
}

ssize_t __wrap_read(int fd, void* to, std::size_t room) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_read(fd, to, room);
  if (auto* const event = system->find<EventDescriptor>(fd)) {
    if (!std::exchange(event->set, false)) return result<ssize_t>(-EAGAIN);
    std::memset(to, 1, std::min<std::size_t>(room, 1));
    return 8;
  }
  return result(system->find<Socket>(fd)->recv(to, room));
}

ssize_t __wrap_write(int fd, const void* from, std::size_t count) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_write(fd, from, count);
  if (auto* const event = system->find<EventDescriptor>(fd)) {
    event->set = true;
    system->changed(*event);
    return static_cast<ssize_t>(count);
  }
  return result(system->find<Socket>(fd)->send({static_cast<const char*>(from), count}));
}

int __wrap_close(int fd) {
  System* const system = System::of(fd);
  return system != nullptr ? result(system->close(fd)) : __real_close(fd);
}

int __wrap_shutdown(int fd, int how) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_shutdown(fd, how);
  auto* const socket = system->find<Socket>(fd);
  socket->shut_down();
  system->changed(*socket);
  return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void* value, socklen_t* length) {
  System* const system = System::of(fd);
  if (system == nullptr) return __real_getsockopt(fd, level, name, value, length);
  const int error = name == SO_ERROR ? system->find<Socket>(fd)->take_error() : 0;
  std::memcpy(value, &error, std::min<std::size_t>(sizeof error, *length));
  return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void* value, socklen_t length) {
  return System::of(fd) != nullptr ? 0 : __real_setsockopt(fd, level, name, value, length);
}

int __wrap_ioctl(int fd, unsigned long request, ...) {
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  return System::of(fd) != nullptr ? 0 : __real_ioctl(fd, request, argument);
}

int __wrap_fcntl(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  const long argument = va_arg(more, long);
  va_end(more);
  return System::of(fd) != nullptr ? 0 : __real_fcntl(fd, command, argument);
}

pid_t __wrap_getpid() { return Process::current() != nullptr ? Process::current()->number() : __real_getpid(); }

int __wrap_gethostname(char* name, std::size_t room) {
  if (Process::current() == nullptr) return __real_gethostname(name, room);
  std::strncpy(name, "simulated", room);
  return 0;
}

}  // extern "C"

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cert-dcl50-cpp,readability-identifier-naming,google-runtime-int)
