// SPDX-License-Identifier: Apache-2.0
// What a simulated process asks of its operating system: sockets, epoll, eventfd and timerfd, in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include "sim/world.hpp"

namespace holdfast::test::sim {

class Process;
class System;

/// One of the numbers that a process knows. Each is watched by one epoll, and only edges are told, which is how
/// Asio uses it.
class Descriptor {
 public:
  Descriptor() = default;
  virtual ~Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  /// EPOLLIN and so on, as it is now.
  virtual std::uint32_t state() const { return 0; }

 private:
  friend class System;
  int number_ = -1;
  std::optional<epoll_event> watched_;
  bool told_ = false;  // it is in the list of what has changed
};

class EventDescriptor final : public Descriptor {
 public:
  bool set = false;
  std::uint32_t state() const override { return set ? std::uint32_t{EPOLLIN} : 0U; }
};

class TimerDescriptor final : public Descriptor {
 public:
  bool due = false;
  std::optional<World::Id> event;
  std::uint32_t state() const override { return due ? std::uint32_t{EPOLLIN} : 0U; }
};

/// The client's end of a connection.
class Socket final : public Descriptor {
 public:
  enum class State { idle, connecting, refused, open, reset };
  /// Where what is sent goes, and who hears of its end. Both are called by the process.
  struct Line {
    std::function<void(std::string bytes)> send;
    std::function<void()> close;
  };

  std::uint32_t state() const override;

  // For the network; each of them is followed by System::changed().
  void open(Line line);
  void refuse() { state_ = State::refused; }
  void receive(std::string_view bytes) { unread_ += bytes; }
  void receive_end() { ended_ = true; }
  void reset();

  /// As the system calls, with -errno.
  ssize_t recv(void* to, std::size_t room);
  ssize_t send(std::string_view bytes);
  int take_error();
  void shut_down() { receive_end(); }
  void begin_to_connect() { state_ = State::connecting; }
  bool connecting() const { return state_ == State::connecting; }
  void close();

 private:
  State state_ = State::idle;
  std::string unread_;
  std::size_t read_ = 0;
  bool ended_ = false;
  Line line_;
};

/// Those of one process.
class System {
 public:
  static constexpr int kFirst = 1 << 20;

  System(World& world, Process& process) : world_(world), process_(process) {}
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  /// Of the process whose code runs; null for a number that is not simulated.
  static System* of(int fd);

  /// No number is given out twice.
  int add(std::unique_ptr<Descriptor> descriptor);
  /// Null: there is none of this number and kind.
  template <class Kind = Descriptor>
  Kind* find(int fd) {
    const std::size_t index = static_cast<std::size_t>(fd - kFirst);
    return index < all_.size() ? dynamic_cast<Kind*>(all_[index].get()) : nullptr;
  }
  int close(int fd);
  /// As the kernel does for a process that has ended.
  void close_all();
  /// How many sockets are open.
  std::size_t sockets() const;

  /// It is in another state than before.
  void changed(Descriptor& descriptor);
  /// The first epoll that watches anything is Asio's. Nobody waits for another one, which a client makes for callers
  /// who block.
  int watch(int epoll, int fd, int how, const epoll_event* event);
  int take_changed(epoll_event* events, int room);
  int set_timer(int fd, base::Duration time);

 private:
  World& world_;
  Process& process_;
  std::vector<std::unique_ptr<Descriptor>> all_;
  std::vector<int> changed_;
  int waited_on_ = -1;
};

}  // namespace holdfast::test::sim
