#include "sim/network.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <string_view>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace holdfast::test {
namespace {

Network* the_network = nullptr;

}  // namespace

Network::Network(World& world, ModelServer& server) : world_(world), server_(server) {
  assert(the_network == nullptr);
  the_network = this;
  world.set_pump([this] { return pump(); });
}

Network::~Network() {
  world_.set_pump([] { return false; });
  the_network = nullptr;
}

Network& Network::current() {
  assert(the_network != nullptr);
  return *the_network;
}

void Network::dial(std::function<void(int fd)> done) {
  world_.after(world_.between(kFastest, kSlowest), [this, done = std::move(done)] {
    if (!reachable_) return done(-1);
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    auto link = std::make_shared<Link>();
    link->fd = Fd(ends[0]);
    link->number = ++last_;
    link->session = server_.connect([this, weak = std::weak_ptr(link)](std::string bytes) {
      const LinkPtr to = weak.lock();
      if (!to || to->cut) return;
      world_.at(arrival(to->to_client), [this, to, bytes = std::move(bytes)] { arrive_at_client(to, bytes); });
    });
    links_.push_back(link);
    done(ends[1]);
  });
}

/// Reads what the clients have written.
bool Network::pump() {
  bool moved = false;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const LinkPtr link = links_[i];
    char buffer[16384];
    ssize_t got = 0;
    while (!link->cut && (got = ::read(link->fd.get(), buffer, sizeof buffer)) > 0) {
      moved = true;
      world_.at(arrival(link->to_server), [this, link, bytes = std::string(buffer, static_cast<std::size_t>(got))] {
        arrive_at_server(link, bytes);
      });
    }
    if (got == 0 && !link->cut) {  // the client has closed it; what it sent before still arrives
      moved = true;
      link->cut = true;
      world_.at(arrival(link->to_server), [this, link] { server_.disconnect(*link->session); });
    }
  }
  std::erase_if(links_, [](const LinkPtr& link) { return link->cut; });
  return moved;
}

void Network::arrive_at_server(const LinkPtr& link, std::string bytes) {
  record(*link, '>', bytes);
  server_.receive(link->session, std::move(bytes));
}

void Network::arrive_at_client(const LinkPtr& link, const std::string& bytes) {
  if (link->cut) return;
  record(*link, '<', bytes);
  if (::send(link->fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "a simulated client does not read");
  }
}

void Network::cut() {
  ++cuts_;
  for (const LinkPtr& link : links_) end(*link);
  links_.clear();
}

void Network::end(Link& link) {
  link.cut = true;
  link.fd.reset();
  server_.disconnect(*link.session);
}

base::TimePoint Network::arrival(base::TimePoint& latest) {
  latest = std::max(latest, world_.now() + world_.between(kFastest, kSlowest));
  return latest;
}

/// FNV-1a.
void Network::record(const Link& link, char direction, const std::string& bytes) {
  const auto add = [this](std::string_view text) {
    for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 1099511628211U;
  };
  bytes_ += bytes.size();
  add(std::to_string(world_.now().time_since_epoch().count()) + direction + std::to_string(link.number) + ' ');
  add(bytes);
}

}  // namespace holdfast::test
