// SPDX-License-Identifier: Apache-2.0
// A server whose answers are huge: each connection has a thread, which sends what the test gives it, without a copy.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include "support/spawn.hpp"

namespace holdfast::test {

/// Lets everybody log in, and says OK to CLIENT.
class HostileServer {
 public:
  using Command = std::vector<std::string>;
  using Bytes = std::shared_ptr<const std::string>;
  /// What it sends for a command. Called in the connections' threads.
  using Answers = std::function<Bytes(const Command&)>;

  explicit HostileServer(Answers answers)
      : answers_(std::move(answers)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.get(), any, size) != 0 || listen(listener_.get(), 64) != 0 ||
        getsockname(listener_.get(), any, &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  HostileServer(const HostileServer&) = delete;
  HostileServer& operator=(const HostileServer&) = delete;
  ~HostileServer() {
    shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    const std::scoped_lock guard(mutex_);
    for (const Fd& each : connections_) shutdown(each.get(), SHUT_RDWR);
    threads_.clear();
  }

  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  std::uint16_t port() const { return port_; }

 private:
  void accept_all() {
    for (;;) {
      Fd accepted(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!accepted.valid()) return;
      const int fd = accepted.get();
      const std::scoped_lock guard(mutex_);
      connections_.push_back(std::move(accepted));
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) const {
    std::string heard;
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      heard.append(buffer, static_cast<std::size_t>(got));
      for (Command next = take(heard); !next.empty(); next = take(heard)) {
        if (!say(fd, *answer(next))) break;
      }
    }
    shutdown(fd, SHUT_RDWR);
  }

  Bytes answer(const Command& command) const {
    static const Bytes ok = std::make_shared<std::string>("+OK\r\n");
    static const Bytes hello = std::make_shared<std::string>(
        "%4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$2\r\nid\r\n:7\r\n$4\r\nrole\r\n$6\r\n"
        "master\r\n");
    if (command.front() == "HELLO") return hello;
    if (command.front() == "CLIENT" && command[1] != "LIST" && command[1] != "INFO") return ok;
    return answers_(command);
  }

  static bool say(int fd, const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t sent = send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }

  /// The next command, which is taken; empty: it is not all there.
  static Command take(std::string& bytes) {
    std::size_t at = 0;
    const auto count = [&]() -> long {
      const std::size_t end = bytes.find("\r\n", at);
      if (end == bytes.npos) return -1;
      const long number = std::stol(bytes.substr(at + 1, end - at - 1));
      at = end + 2;
      return number;
    };
    Command command;
    const long parts = count();
    for (long i = 0; i < parts; ++i) {
      const long length = count();
      if (length < 0 || bytes.size() < at + static_cast<std::size_t>(length) + 2) return {};
      command.push_back(bytes.substr(at, static_cast<std::size_t>(length)));
      at += static_cast<std::size_t>(length) + 2;
    }
    if (parts > 0) bytes.erase(0, at);
    return command;
  }

  const Answers answers_;
  const Fd listener_;
  std::uint16_t port_ = 0;
  std::thread acceptor_;
  std::mutex mutex_;
  std::list<Fd> connections_;          // guarded by mutex_
  std::vector<std::jthread> threads_;  // guarded by mutex_
};

}  // namespace holdfast::test
