// SPDX-License-Identifier: Apache-2.0
#include "support/proxy.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <thread>
#include <vector>

#include "support/proxy_link.hpp"

namespace holdfast::test {
namespace {

Fd make_socket(int family) {
  Fd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) throw std::system_error(errno, std::generic_category(), "socket");
  const int on = 1;
  if (family == AF_INET) {
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  }
  return fd;
}

/// Either kind of address, for bind and connect.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family() const { return storage.ss_family; }
  const sockaddr* pointer() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address loopback(std::uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Address address{{}, sizeof in};
  std::memcpy(&address.storage, &in, sizeof in);
  return address;
}

Address unix_address(const std::string& path) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  path.copy(un.sun_path, sizeof un.sun_path - 1);
  Address address{{}, sizeof un};
  std::memcpy(&address.storage, &un, sizeof un);
  return address;
}

}  // namespace

/// The thread, and the state that only it touches; the outside hands it work and waits.
class Proxy::Loop {
 public:
  Loop(const RedisServer& server, Listen listen, const NetworkNamespace* network) : network_(network) {
    const bool tls = server.options().listen == ServerOptions::Listen::tls;
    upstream_ = tls ? loopback(server.port()) : unix_address(server.socket_path());
    if (network_ != nullptr) {
      address_ = loopback(server.port());
      url_ = server.url();
    } else if (listen == Listen::tcp) {
      port_ = std::make_unique<PortLease>();
      address_ = loopback(port_->port());
      url_ = server.url_with_port(port_->port());
    } else {
      folder_ = std::make_unique<TempDir>();
      socket_path_ = folder_->file("proxy.sock");
      address_ = unix_address(socket_path_);
      url_ = "unix://" + socket_path_;
    }
    open_listener();
    auto [wake_read, wake_write] = make_pipe();
    fcntl(wake_read.get(), F_SETFL, O_NONBLOCK);
    wake_read_ = std::move(wake_read);
    wake_write_ = std::move(wake_write);
    thread_ = std::thread([this] { run(); });
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    in_loop([this] { stopping_ = true; });
    thread_.join();
  }

  /// Has the thread do it, and returns when it is done.
  void in_loop(const std::function<void()>& work) {
    std::packaged_task<void()> task(work);
    std::future<void> done = task.get_future();
    {
      const std::lock_guard guard(mutex_);
      tasks_.push_back(std::move(task));
    }
    [[maybe_unused]] const ssize_t woken = write(wake_write_.get(), "w", 1);
    done.get();
  }

  void open_listener() {
    if (network_ == nullptr) return listen_here();
    network_->inside([this] { listen_here(); });
  }

  void listen_here() {
    Fd listener = make_socket(address_.family());
    if (!socket_path_.empty()) unlink(socket_path_.c_str());
    if (bind(listener.get(), address_.pointer(), address_.size) != 0 || listen(listener.get(), 128) != 0) {
      throw std::system_error(errno, std::generic_category(), url_);
    }
    fcntl(listener.get(), F_SETFL, O_NONBLOCK);
    listener_ = std::move(listener);
  }

  void cut_links_that_lost_bytes() {
    links_.remove_if([](const ProxyLink& link) { return link.has_lost_bytes(); });
  }

  std::string url_, socket_path_;
  std::unique_ptr<PortLease> port_;
  std::atomic<std::size_t> accepted_{0};

  // Confined to the thread (use in_loop).
  ProxyFaults faults_;
  std::list<ProxyLink> links_;
  Fd listener_;
  ProxyLink* delivering_ = nullptr;
  std::promise<bool> delivered_;

 private:
  void run() {
    std::vector<pollfd> polled;
    while (!stopping_) {
      polled.assign({{wake_read_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}});
      for (const ProxyLink& link : links_) {
        polled.push_back(link.client_interest());
        polled.push_back(link.server_interest());
      }
      if (poll(polled.data(), polled.size(), poll_timeout()) < 0) continue;
      std::size_t at = 2;
      for (ProxyLink& link : links_) {
        link.on_client(polled[at].revents);
        link.on_server(polled[at + 1].revents);
        at += 2;
      }
      if (polled[1].revents != 0) accept_one();
      run_tasks();
      remove_finished();
    }
  }

  int poll_timeout() const {
    using namespace std::chrono;
    std::optional<steady_clock::time_point> next;
    for (const ProxyLink& link : links_) {
      const auto due = link.next_due();
      if (due && (!next || *due < *next)) next = due;
    }
    if (!next) return -1;
    return static_cast<int>(std::max<milliseconds::rep>(0, ceil<milliseconds>(*next - steady_clock::now()).count()));
  }

  void accept_one() {
    Fd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.valid()) return;
    ++accepted_;
    const int on = 1;
    setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Fd server = make_socket(upstream_.family());
    // A server that is down: the client is accepted and then sees its connection closed.
    if (connect(server.get(), upstream_.pointer(), upstream_.size) != 0) return;
    links_.emplace_back(std::move(client), std::move(server), faults_);
  }

  void remove_finished() {
    for (auto link = links_.begin(); link != links_.end();) {
      if (!link->over()) {
        ++link;
        continue;
      }
      if (&*link == delivering_) {
        delivering_ = nullptr;
        delivered_.set_value(link->delivered());
      }
      link = links_.erase(link);
    }
  }

  void run_tasks() {
    char buffer[64];
    while (read(wake_read_.get(), buffer, sizeof buffer) > 0) {
    }
    std::vector<std::packaged_task<void()>> tasks;
    {
      const std::lock_guard guard(mutex_);
      tasks.swap(tasks_);
    }
    for (auto& task : tasks) task();
  }

  const NetworkNamespace* network_;
  std::unique_ptr<TempDir> folder_;
  Address address_, upstream_;
  Fd wake_read_, wake_write_;
  std::mutex mutex_;
  std::vector<std::packaged_task<void()>> tasks_;  // guarded by mutex_
  bool stopping_ = false;                          // confined to the thread
  std::thread thread_;
};

Proxy::Proxy(const RedisServer& server, Listen listen) : loop_(std::make_unique<Loop>(server, listen, nullptr)) {}
Proxy::Proxy(const RedisServer& server, const NetworkNamespace& network)
    : loop_(std::make_unique<Loop>(server, Listen::tcp, &network)) {}
Proxy::~Proxy() = default;

std::string Proxy::url() const { return loop_->url_; }
std::uint16_t Proxy::port() const { return loop_->port_ ? loop_->port_->port() : std::uint16_t{0}; }
const std::string& Proxy::socket_path() const { return loop_->socket_path_; }

void Proxy::cut() {
  loop_->in_loop([this] { loop_->links_.remove_if([](const ProxyLink& link) { return !link.is_held(); }); });
}

void Proxy::cut_after_next_request(std::string text) {
  loop_->in_loop([&] { loop_->faults_.cut_after = std::move(text); });
}

void Proxy::hold_next_request(std::string text) {
  loop_->in_loop([&] { loop_->faults_.hold = std::move(text); });
}

bool Proxy::deliver_held() {
  std::future<bool> delivered;
  loop_->in_loop([&] {
    loop_->delivered_ = {};
    delivered = loop_->delivered_.get_future();
    for (ProxyLink& link : loop_->links_) {
      if (!link.is_held()) continue;
      loop_->delivering_ = &link;
      return link.deliver_held();
    }
    loop_->delivered_.set_value(false);
  });
  return delivered.wait_for(kPatience) == std::future_status::ready && delivered.get();
}

void Proxy::drop_requests(bool on) {
  loop_->in_loop([&] {
    loop_->faults_.drop_requests = on;
    if (!on) loop_->cut_links_that_lost_bytes();
  });
}

void Proxy::drop_replies(bool on) {
  loop_->in_loop([&] {
    loop_->faults_.drop_replies = on;
    if (!on) loop_->cut_links_that_lost_bytes();
  });
}

void Proxy::delay(Direction direction, std::chrono::milliseconds by) {
  loop_->in_loop([&] {
    (direction == Direction::to_server ? loop_->faults_.delay_to_server : loop_->faults_.delay_to_client) = by;
  });
}

void Proxy::set_weather(const Weather& weather) {
  loop_->in_loop([&] {
    ProxyFaults& faults = loop_->faults_;
    faults.lost = weather.lost;
    faults.late = weather.late;
    faults.late_by = weather.late_by;
    faults.random_delay = weather.delay;
    faults.random.seed(weather.seed);
  });
}

void Proxy::refuse(bool on) {
  loop_->in_loop([&] {
    if (on) {
      loop_->listener_.reset();
    } else if (!loop_->listener_.valid()) {
      loop_->open_listener();
    }
  });
}

std::size_t Proxy::fired() const {
  std::size_t count = 0;
  loop_->in_loop([&] { count = loop_->faults_.fired; });
  return count;
}

std::size_t Proxy::accepted() const { return loop_->accepted_; }

std::size_t Proxy::connected() const {
  std::size_t count = 0;
  loop_->in_loop([&] {
    for (const ProxyLink& link : loop_->links_) count += link.has_client() ? 1 : 0;
  });
  return count;
}

}  // namespace holdfast::test
