// SPDX-License-Identifier: Apache-2.0
#include "support/made_up_node.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <deque>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace holdfast::test {
namespace {

Fd listen_on(std::uint16_t port) {
  Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 64) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot listen");
  }
  return listener;
}

/// The number behind a `*` or `$`, and the line with it, are taken; -1: it is not all there.
long take_count(const std::string& bytes, std::size_t& at) {
  const std::size_t end = bytes.find("\r\n", at);
  if (end == bytes.npos) return -1;
  const long count = std::stol(bytes.substr(at + 1, end - at - 1));
  at = end + 2;
  return count;
}

/// The next command, which is taken; empty: it is not all there.
MadeUpNode::Command take_command(std::string& bytes) {
  std::size_t at = 0;
  MadeUpNode::Command command;
  const long parts = take_count(bytes, at);
  for (long i = 0; i < parts; ++i) {
    const long length = take_count(bytes, at);
    if (length < 0 || bytes.size() < at + static_cast<std::size_t>(length) + 2) return {};
    command.push_back(bytes.substr(at, static_cast<std::size_t>(length)));
    at += static_cast<std::size_t>(length) + 2;
  }
  bytes.erase(0, parts < 0 ? 0 : at);
  return command;
}

}  // namespace

struct MadeUpNode::Connection {
  Fd fd;
  std::string heard, to_say;
};

MadeUpNode::MadeUpNode(Answers answers) : answers_(std::move(answers)), listener_(listen_on(port_.port())) {
  thread_ = std::thread([this] { run(); });
}

MadeUpNode::~MadeUpNode() {
  over_ = true;
  thread_.join();
}

std::size_t MadeUpNode::heard(const std::string& word) const {
  const std::scoped_lock guard(mutex_);
  return static_cast<std::size_t>(std::ranges::count(words_, word));
}

std::string MadeUpNode::answer(const Command& command) {
  {
    const std::scoped_lock guard(mutex_);
    words_.push_back(command.front());
  }
  if (command.front() != "HELLO") return answers_(command);
  return "%4\r\n" + as_bulk("server") + as_bulk("redis") + as_bulk("version") + as_bulk("7.0.0") + as_bulk("id") +
         as_number(7) + as_bulk("role") + as_bulk("master");
}

void MadeUpNode::read(Connection& connection) {
  std::array<char, 4096> buffer{};
  const ssize_t got = recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN)) return connection.fd.reset();
  if (got > 0) connection.heard.append(buffer.data(), static_cast<std::size_t>(got));
  for (Command next = take_command(connection.heard); !next.empty(); next = take_command(connection.heard)) {
    connection.to_say += answer(next);
  }
}

void MadeUpNode::run() {
  std::deque<Connection> connections;
  while (!over_) {
    std::vector<pollfd> wanted{{listener_.get(), POLLIN, 0}};
    std::erase_if(connections, [](const Connection& each) { return !each.fd.valid(); });
    for (const Connection& each : connections) {
      wanted.push_back({each.fd.get(), static_cast<short>(each.to_say.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    }
    poll(wanted.data(), wanted.size(), 10);
    if (wanted.front().revents != 0) {
      connections.push_back({Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)), {}, {}});
    }
    for (Connection& each : connections) {
      if (each.fd.valid()) read(each);
      if (!each.fd.valid() || each.to_say.empty()) continue;
      const ssize_t sent = send(each.fd.get(), each.to_say.data(), each.to_say.size(), MSG_NOSIGNAL);
      if (sent > 0) each.to_say.erase(0, static_cast<std::size_t>(sent));
    }
  }
}

std::string as_bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

std::string as_array(const std::vector<std::string>& elements) {
  std::string out = "*" + std::to_string(elements.size()) + "\r\n";
  for (const std::string& each : elements) out += each;
  return out;
}

std::string as_number(long long number) { return ":" + std::to_string(number) + "\r\n"; }

std::string as_range(int first, int last, const std::string& host, int port) {
  return as_array({as_number(first), as_number(last),
                   as_array({as_bulk(host), as_number(port), as_bulk(std::string(40, 'a')), as_array({})})});
}

}  // namespace holdfast::test
