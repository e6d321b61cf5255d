// SPDX-License-Identifier: Apache-2.0
#include "support/proxy_link.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>

namespace holdfast::test {

using SteadyClock = std::chrono::steady_clock;

ProxyLink::ProxyLink(Fd client, Fd server, ProxyFaults& faults)
    : faults_(faults), client_(std::move(client)), server_(std::move(server)) {}

ProxyLink::Closed ProxyLink::read_all(const Fd& from, std::string& bytes) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = recv(from.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) {
      bytes.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      return Closed::in_order;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK ? Closed::no : Closed::broken;
    }
  }
}

bool ProxyLink::has_due(const Queue& queue) { return !queue.empty() && queue.front().due <= SteadyClock::now(); }

/// False if the other side is gone.
bool ProxyLink::write_due(const Fd& to, Queue& queue) {
  while (has_due(queue)) {
    std::string& bytes = queue.front().bytes;
    const ssize_t count = ::send(to.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    bytes.erase(0, static_cast<std::size_t>(count));
    if (!bytes.empty()) return true;
    queue.pop_front();
  }
  return true;
}

void ProxyLink::enqueue(Queue& queue, std::string bytes, std::chrono::milliseconds delay) {
  auto due = SteadyClock::now() + delay;
  // A shorter delay must not let later bytes overtake.
  if (!queue.empty()) due = std::max(due, queue.back().due);
  queue.push_back({due, std::move(bytes)});
}

pollfd ProxyLink::client_interest() const {
  const bool reads = client_closed_ == Closed::no;
  const bool writes = has_due(to_client_);
  if (!client_.valid() || (!reads && !writes)) return {-1, 0, 0};
  return {client_.get(), static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
}

pollfd ProxyLink::server_interest() const {
  const bool reads = server_closed_ == Closed::no;
  const bool writes = has_due(to_server_);
  if (!reads && !writes) return {-1, 0, 0};
  return {server_.get(), static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
}

std::optional<SteadyClock::time_point> ProxyLink::next_due() const {
  std::optional<SteadyClock::time_point> next;
  for (const Queue* queue : {&to_server_, &to_client_}) {
    if (queue->empty() || has_due(*queue)) continue;
    next = next ? std::min(*next, queue->front().due) : queue->front().due;
  }
  return next;
}

void ProxyLink::on_client(short events) {
  if (events != 0 && client_.valid() && client_closed_ == Closed::no) {
    std::string bytes;
    client_closed_ = read_all(client_, bytes);
    if (faults_.drop_requests && (!bytes.empty() || client_closed_ != Closed::no)) {
      lost_bytes_ = true;
    } else if (!bytes.empty() && mode_ == Mode::forwarding) {
      take_request(std::move(bytes));
    }
  }
  flush();
}

void ProxyLink::take_request(std::string bytes) {
  const std::string seen = recent_ + bytes;
  const auto matches = [&](const std::string& wanted) {
    return !wanted.empty() && seen.find(wanted) != std::string::npos;
  };
  if (matches(faults_.hold)) {
    held_ = std::move(bytes);
    mode_ = Mode::held;
    client_.reset();
    to_client_.clear();
    faults_.hold.clear();
    ++faults_.fired;
    return;
  }
  if (matches(faults_.cut_after)) {
    lose_client();
    faults_.cut_after.clear();
  }
  if (mode_ == Mode::forwarding && faults_.strikes(spared(faults_.late))) {
    lose_client();
    client_.reset();
    return enqueue(to_server_, std::move(bytes), faults_.up_to(faults_.late_by));
  }
  const std::size_t keep = std::max(faults_.hold.size(), faults_.cut_after.size());
  recent_ = keep > 1 ? seen.substr(seen.size() - std::min(seen.size(), keep - 1)) : std::string();
  enqueue(to_server_, std::move(bytes), faults_.delay_to_server + faults_.some_delay());
}

void ProxyLink::lose_client() {
  mode_ = Mode::cutting;
  to_client_.clear();
  ++faults_.fired;
}

void ProxyLink::on_server(short events) {
  if (events != 0 && server_closed_ == Closed::no) {
    std::string bytes;
    server_closed_ = read_all(server_, bytes);
    if (!bytes.empty() && mode_ == Mode::delivering) answered_ = true;
    if (mode_ == Mode::forwarding && faults_.drop_replies && (!bytes.empty() || server_closed_ != Closed::no)) {
      lost_bytes_ = true;
    } else if (mode_ == Mode::forwarding && !bytes.empty()) {
      if (faults_.strikes(spared(faults_.lost))) {
        lose_client();
      } else {
        ++replies_;
        enqueue(to_client_, std::move(bytes), faults_.delay_to_client + faults_.some_delay());
      }
    }
  }
  flush();
}

void ProxyLink::flush() {
  if (client_.valid() && !write_due(client_, to_client_)) {
    client_closed_ = Closed::broken;
    to_client_.clear();
  }
  if (!write_due(server_, to_server_)) to_server_.clear();
  // Nothing more will come from this client: the server answers what it has, then closes.
  const bool no_more = mode_ == Mode::cutting || mode_ == Mode::delivering ||
                       (mode_ == Mode::forwarding && client_closed_ != Closed::no && !lost_bytes_);
  if (no_more && to_server_.empty() && !finished_sending_) {
    finished_sending_ = true;
    shutdown(server_.get(), SHUT_WR);
  }
}

bool ProxyLink::over() const {
  if (server_closed_ == Closed::no || mode_ == Mode::held || lost_bytes_) return false;
  return to_client_.empty() || !client_.valid() || client_closed_ == Closed::broken;
}

void ProxyLink::deliver_held() {
  mode_ = Mode::delivering;
  enqueue(to_server_, std::move(held_), std::chrono::milliseconds(0));
  flush();
}

}  // namespace holdfast::test
