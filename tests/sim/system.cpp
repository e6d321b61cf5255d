// SPDX-License-Identifier: Apache-2.0
#include "sim/system.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/process.hpp"

namespace holdfast::test::sim {

// ---- a socket ----

std::uint32_t Socket::state() const {
  switch (state_) {
    case State::idle:
      return EPOLLHUP | EPOLLOUT;
    case State::connecting:
      return 0;
    case State::refused:
    case State::reset:
      return EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP;
    case State::open:
      break;
  }
  return EPOLLOUT | (read_ < unread_.size() || ended_ ? std::uint32_t{EPOLLIN} : 0U);
}

void Socket::open(Line line) {
  state_ = State::open;
  line_ = std::move(line);
}

void Socket::reset() {
  state_ = State::reset;
  line_ = {};
}

ssize_t Socket::recv(void* to, std::size_t room) {
  if (read_ < unread_.size()) {
    const std::size_t count = std::min(room, unread_.size() - read_);
    std::memcpy(to, unread_.data() + read_, count);
    read_ += count;
    if (read_ == unread_.size()) {
      unread_.clear();
      read_ = 0;
    }
    return static_cast<ssize_t>(count);
  }
  if (state_ == State::reset) return -ECONNRESET;
  if (ended_) return 0;
  return state_ == State::open ? -EAGAIN : -ENOTCONN;
}

ssize_t Socket::send(std::string_view bytes) {
  if (state_ != State::open) return state_ == State::reset ? -EPIPE : -ENOTCONN;
  line_.send(std::string(bytes));
  return static_cast<ssize_t>(bytes.size());
}

int Socket::take_error() {
  switch (state_) {
    case State::refused:
      return ECONNREFUSED;
    case State::reset:
      return ECONNRESET;
    default:
      return 0;
  }
}

void Socket::close() {
  if (line_.close) line_.close();
  line_ = {};
}

// ---- all that a process has ----

System::~System() { close_all(); }

System* System::of(int fd) {
  Process* const process = Process::current();
  return fd >= kFirst && process != nullptr ? &process->system() : nullptr;
}

int System::add(std::unique_ptr<Descriptor> descriptor) {
  const int fd = kFirst + static_cast<int>(all_.size());
  descriptor->number_ = fd;
  all_.push_back(std::move(descriptor));
  return fd;
}

int System::close(int fd) {
  Descriptor* const descriptor = find(fd);
  if (descriptor == nullptr) return -EBADF;
  if (auto* const socket = find<Socket>(fd)) socket->close();
  if (auto* const timer = find<TimerDescriptor>(fd); timer != nullptr && timer->event) world_.cancel(*timer->event);
  std::erase(changed_, fd);
  all_[static_cast<std::size_t>(fd - kFirst)].reset();
  return 0;
}

void System::close_all() {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i]) close(kFirst + static_cast<int>(i));
  }
}

std::size_t System::sockets() const {
  return static_cast<std::size_t>(std::count_if(
      all_.begin(), all_.end(), [](const auto& each) { return dynamic_cast<const Socket*>(each.get()) != nullptr; }));
}

void System::changed(Descriptor& descriptor) {
  if (descriptor.told_ || !descriptor.watched_ || descriptor.state() == 0) return;
  descriptor.told_ = true;
  changed_.push_back(descriptor.number_);
  process_.wake();
}

int System::watch(int epoll, int fd, int how, const epoll_event* event) {
  if (waited_on_ < 0) waited_on_ = epoll;
  if (epoll != waited_on_) return 0;
  Descriptor* const descriptor = find(fd);
  if (descriptor == nullptr) return -EBADF;
  if (how == EPOLL_CTL_DEL) {
    descriptor->watched_.reset();
    descriptor->told_ = false;
    std::erase(changed_, fd);
    return 0;
  }
  descriptor->watched_ = *event;
  changed(*descriptor);
  return 0;
}

int System::take_changed(epoll_event* events, int room) {
  int count = 0;
  std::size_t taken = 0;
  for (; taken < changed_.size() && count < room; ++taken) {
    Descriptor& descriptor = *find(changed_[taken]);
    descriptor.told_ = false;
    const std::uint32_t state = descriptor.state() & (descriptor.watched_->events | EPOLLERR | EPOLLHUP);
    if (state == 0) continue;
    events[count] = *descriptor.watched_;
    events[count++].events = state;
  }
  changed_.erase(changed_.begin(), changed_.begin() + static_cast<std::ptrdiff_t>(taken));
  return count;
}

int System::set_timer(int fd, base::Duration time) {
  auto* const timer = find<TimerDescriptor>(fd);
  if (timer == nullptr) return -EBADF;
  if (timer->event) world_.cancel(*timer->event);
  timer->due = false;
  timer->event = world_.after(process_.world_time(time), [this, timer] {
    timer->event.reset();
    timer->due = true;
    changed(*timer);
  });
  return 0;
}

}  // namespace holdfast::test::sim
