// SPDX-License-Identifier: Apache-2.0
#include "testing/model_host.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace holdfast {
namespace {

constexpr int kMostInLine = 128;

}  // namespace

// ---- time ----

ModelTime::Id ModelTime::at(base::TimePoint time, Event event) {
  return events_.emplace(Id(time, ++last_), std::move(event)).first->first;
}

base::TimePoint ModelTime::next() const {
  return events_.empty() ? base::TimePoint::max() : events_.begin()->first.first;
}

bool ModelTime::run_what_is_due() {
  bool worked = false;
  while (next() <= now()) {
    events_.extract(events_.begin()).mapped()();
    worked = true;
  }
  return worked;
}

// ---- connections ----

ModelHost::ModelHost(const private_server::Files& files)
    : listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  private_server::require_short_path(files);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  files.socket.copy(std::data(address.sun_path), sizeof(address.sun_path) - 1);
  if (!listener_.ok() || bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_.get(), kMostInLine) != 0) {
    throw private_server::unreachable(files, private_server::words(errno));
  }
}

ModelHost::~ModelHost() {
  for (const std::shared_ptr<Link>& link : links_) {
    if (!link->over) server_.disconnect(*link->session);
  }
}

void ModelHost::Link::flush() {
  while (!unsent.empty()) {
    const ssize_t sent = send(socket.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return;  // if the client is gone, recv() says so
    unsent.erase(0, static_cast<std::size_t>(sent));
  }
}

bool ModelHost::accept_all() {
  bool worked = false;
  for (;;) {
    const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return worked;
    worked = true;
    const auto link = std::make_shared<Link>(fd);
    const std::weak_ptr<Link> whose = link;
    link->session = server_.connect(
        [whose](const std::string& bytes) {
          if (const auto live = whose.lock()) {
            live->unsent += bytes;
            live->flush();
          }
        },
        [whose] {
          if (const auto live = whose.lock()) live->over = true;
        });
    if (link->session) links_.push_back(link);
  }
}

bool ModelHost::hear(const std::shared_ptr<Link>& link) {
  bool worked = false;
  std::array<char, 4096> buffer{};
  while (!link->over) {
    const ssize_t got = recv(link->socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
    worked = true;
    if (got <= 0) {
      link->over = true;
      server_.disconnect(*link->session);
    } else {
      server_.receive(link->session, std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    }
  }
  link->flush();
  return worked;
}

bool ModelHost::serve() {
  bool worked = accept_all();
  for (const std::shared_ptr<Link>& link : links_) worked = hear(link) || worked;
  worked = time_.run_what_is_due() || worked;
  std::erase_if(links_, [](const std::shared_ptr<Link>& link) { return link->over; });
  return worked;
}

std::vector<pollfd> ModelHost::waits_for() const {
  std::vector<pollfd> all{{listener_.get(), POLLIN, 0}};
  for (const std::shared_ptr<Link>& link : links_) {
    const int events = POLLIN | (link->unsent.empty() ? 0 : POLLOUT);
    all.push_back({link->socket.get(), static_cast<short>(events), 0});
  }
  return all;
}

}  // namespace holdfast
