// SPDX-License-Identifier: Apache-2.0
#include "support/network_namespace.hpp"

#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>

namespace holdfast::test {
namespace {

void check(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

/// A thread may be in a namespace of its own, and ends with it.
void in_thread(const std::function<void()>& work) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

void bring_up_loopback() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  check(socket.get(), "socket");
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  check(ioctl(socket.get(), SIOCSIFFLAGS, &request), "SIOCSIFFLAGS");
}

}  // namespace

NetworkNamespace::NetworkNamespace() {
  in_thread([this] {
    check(unshare(CLONE_NEWNET), "unshare");
    bring_up_loopback();
    fd_ = Fd(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    check(fd_.get(), "/proc/thread-self/ns/net");
  });
}

std::string NetworkNamespace::why_not() {
  static const std::string why = [] {
    try {
      const NetworkNamespace tried;
      return std::string();
    } catch (const std::system_error& error) {
      return std::string("no network of its own for a process: ") + error.what();
    }
  }();
  return why;
}

void NetworkNamespace::inside(const std::function<void()>& work) const {
  in_thread([&] {
    check(setns(fd_.get(), CLONE_NEWNET), "setns");
    work();
  });
}

std::vector<std::string> NetworkNamespace::prefix() const {
  return {"nsenter", "--net=/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_.get())};
}

}  // namespace holdfast::test
