// SPDX-License-Identifier: Apache-2.0
#include "sim/network.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::test::sim {
namespace {

Network* the_network = nullptr;

constexpr base::Duration kFastest = std::chrono::microseconds(50);
constexpr base::Duration kSlowest = std::chrono::microseconds(500);

std::string in_words(std::uint32_t address) {
  std::string out;
  for (unsigned shift = 32; shift > 0; shift -= 8) {
    out += (out.empty() ? "" : ".") + std::to_string((address >> (shift - 8)) & 0xFFU);
  }
  return out;
}

}  // namespace

Network::Network(World& world) : world_(world) {
  assert(the_network == nullptr);
  the_network = this;
}

Network::~Network() { the_network = nullptr; }

Network& Network::current() {
  assert(the_network != nullptr);
  return *the_network;
}

Network::Weather& Network::weather(const Process& process) {
  const auto number = static_cast<std::size_t>(process.number());
  if (weather_.size() <= number) weather_.resize(number + 1);
  return weather_[number];
}

bool Network::held_back(const Process& process, const Place& node) {
  const Weather& its = weather(process);
  return its.held_back || std::find(its.hidden.begin(), its.hidden.end(), node) != its.hidden.end();
}

void Network::dial(Process& process, int fd, std::uint32_t address, std::uint16_t port) {
  world_.after(world_.between(kFastest, kSlowest),
               [this, &process, fd, place = Place{in_words(address), port}] { answer(process, fd, place); });
}

/// Null: nobody listens there.
ModelNode::SessionPtr Network::reach(const LinkPtr& link, const Place& place) {
  const auto node =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& each) { return each->place() == place; });
  if (node == nodes_.end()) return nullptr;
  link->node = *node;
  const auto to_link = [this, weak = std::weak_ptr(link)](auto what) {
    if (const LinkPtr to = weak.lock()) what(to);
  };
  return link->node->connect(
      [this, to_link](std::string bytes) { to_link([&](const LinkPtr& to) { send_back(to, std::move(bytes)); }); },
      [this, to_link] { to_link([&](const LinkPtr& to) { send_back_end(to); }); });
}

void Network::answer(Process& process, int fd, const Place& place) {
  auto* const socket = process.system().find<Socket>(fd);
  if (socket == nullptr || !socket->connecting()) return;  // it was closed meanwhile
  if (held_back(process, place)) {
    world_.after(std::chrono::milliseconds(10), [this, &process, fd, place] { answer(process, fd, place); });
    return;
  }
  const auto link = std::make_shared<Link>();
  if (!weather(process).refused) link->session = reach(link, place);
  if (!link->session) {
    socket->refuse();
    return process.system().changed(*socket);
  }
  link->number = ++last_;
  link->process = &process;
  link->fd = fd;
  link->chance = world_.chance_of(1'000'000 + static_cast<std::uint64_t>(last_));
  links_.push_back(link);
  socket->open({.send = [this, link](std::string bytes) { send(link, std::move(bytes)); },
                .close = [this, link] { send_end(link); }});
  process.system().changed(*socket);
}

base::TimePoint Network::arrival(Link& link, Path& path) {
  const Weather& weather = this->weather(*link.process);
  const base::Duration takes = World::pick(link.chance, kFastest + weather.least, kSlowest + weather.most);
  path.latest = std::max(path.latest, world_.now() + takes);
  return path.latest;
}

// ---- from the client to the server ----

void Network::send(const LinkPtr& link, std::string bytes) {
  world_.at(arrival(*link, link->to_server), [this, link, bytes = std::move(bytes)]() mutable {
    if (link->to_server.swallowed) return;
    link->to_server.arrived.push_back(std::move(bytes));
    drain_to_server(link);
  });
}

void Network::send_end(const LinkPtr& link) {
  link->closed = true;
  world_.at(arrival(*link, link->to_server), [this, link] {
    if (link->to_server.swallowed) return;
    link->to_server.ended = true;
    drain_to_server(link);
  });
}

void Network::drain_to_server(const LinkPtr& link) {
  Path& path = link->to_server;
  while (!link->over && !held_back(*link->process, link->node->place())) {
    if (path.arrived.empty()) {
      if (path.ended) end(link);
      return;
    }
    const std::string bytes = std::move(path.arrived.front());
    path.arrived.pop_front();
    record(*link, '>', bytes);
    link->node->receive(link->session, bytes);
  }
}

// ---- from the server to the client ----

void Network::send_back(const LinkPtr& link, std::string bytes) {
  if (link->over) return;
  Weather& weather = this->weather(*link->process);
  if (std::exchange(weather.loses_next, false)) {
    world_.at(arrival(*link, link->to_client), [this, link] { end(link); });
    link->to_client.swallowed = true;
    return;
  }
  world_.at(arrival(*link, link->to_client), [this, link, bytes = std::move(bytes)]() mutable {
    if (link->to_client.swallowed) return;
    link->to_client.arrived.push_back(std::move(bytes));
    drain_to_client(link);
  });
}

/// The server has closed it: what it has sent before arrives first.
void Network::send_back_end(const LinkPtr& link) {
  if (link->over) return;
  world_.at(arrival(*link, link->to_client), [this, link] {
    if (link->to_client.swallowed) return;
    link->to_client.ended = true;
    drain_to_client(link);
  });
}

void Network::drain_to_client(const LinkPtr& link) {
  Path& path = link->to_client;
  while (!link->over && !link->closed && !held_back(*link->process, link->node->place())) {
    if (path.arrived.empty()) {
      if (path.ended) end(link);
      return;
    }
    const std::string bytes = std::move(path.arrived.front());
    path.arrived.pop_front();
    record(*link, '<', bytes);
    auto* const socket = link->process->system().find<Socket>(link->fd);
    socket->receive(bytes);
    link->process->system().changed(*socket);
  }
}

// ---- what befalls them ----

template <class Which>
void Network::for_each(Which which, void (Network::*what)(const LinkPtr&)) {
  const std::vector<LinkPtr> links = links_;
  for (const LinkPtr& link : links) {
    if (which(*link)) (this->*what)(link);
  }
}

void Network::end(const LinkPtr& link) {
  if (std::exchange(link->over, true)) return;
  std::erase(links_, link);
  link->node->disconnect(*link->session);
  if (link->closed) return;
  link->closed = true;
  auto* const socket = link->process->system().find<Socket>(link->fd);
  if (link->chance() % 2 == 0) {
    socket->reset();
  } else {
    socket->receive_end();
  }
  link->process->system().changed(*socket);
}

void Network::drain_all() {
  for_each([](const Link&) { return true; }, &Network::drain_to_server);
  for_each([](const Link&) { return true; }, &Network::drain_to_client);
}

void Network::slow_down(const Process& process, base::Duration least, base::Duration most) {
  weather(process).least = least;
  weather(process).most = most;
}

void Network::cut(const Process& process) {
  ++cuts_;
  for_each([&process](const Link& link) { return link.process == &process; }, &Network::end);
}

void Network::hold_back(const Process& process, bool on) {
  weather(process).held_back = on;
  drain_all();
}

void Network::hide(const Process& process, const Place& node, bool on) {
  std::vector<Place>& hidden = weather(process).hidden;
  if (on) {
    hidden.push_back(node);
  } else if (const auto found = std::find(hidden.begin(), hidden.end(), node); found != hidden.end()) {
    hidden.erase(found);
  }
  drain_all();
}

void Network::swallow(const Process& process, Way way) {
  for (const LinkPtr& link : links_) {
    if (link->process == &process) (way == Way::to_server ? link->to_server : link->to_client).swallowed = true;
  }
}

void Network::lose_next_reply(const Process& process) { weather(process).loses_next = true; }

void Network::refuse(const Process& process, bool on) { weather(process).refused = on; }

/// FNV-1a.
void Network::record(const Link& link, char direction, std::string_view bytes) {
  const auto add = [this](std::string_view text) {
    for (const char c : text) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 1099511628211U;
  };
  bytes_ += bytes.size();
  add(std::to_string(world_.now().time_since_epoch().count()) + direction + std::to_string(link.number) + ' ');
  add(bytes);
  if (look_) look_(*link.process, direction, link.number, bytes);
}

}  // namespace holdfast::test::sim
