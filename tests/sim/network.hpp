// SPDX-License-Identifier: Apache-2.0
// Connections between simulated processes and model servers: bytes take their time, and much can befall them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/node.hpp"
#include "sim/process.hpp"
#include "sim/world.hpp"

namespace holdfast::test::sim {

/// One at a time.
class Network {
 public:
  explicit Network(World& world);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  static Network& current();

  /// The n-th of those that the models of several nodes are at.
  static std::string host(std::size_t number) { return "10.0.0." + std::to_string(number + 1); }
  /// It is reached at its place.
  void add(ModelNode& node) { nodes_.push_back(&node); }
  /// For the process's connect().
  void dial(Process& process, int fd, std::uint32_t address, std::uint16_t port);

  // What befalls a process's connections.
  /// Each portion takes this much longer.
  void slow_down(const Process& process, base::Duration least, base::Duration most);
  /// All are cut; what is on its way is lost.
  void cut(const Process& process);
  /// Nothing arrives, in either direction, nor does a new connection come about, until this is over; then all does.
  void hold_back(const Process& process, bool on);
  /// The same between it and this node.
  void hide(const Process& process, const Place& node, bool on);
  /// From now on nothing arrives in this direction on those that there are, and nobody is told.
  enum class Way { to_server, to_client };
  void swallow(const Process& process, Way way);
  /// The next portion that the server sends is lost, and its connection with it.
  void lose_next_reply(const Process& process);
  /// New ones are refused.
  void refuse(const Process& process, bool on);

  std::uint64_t cuts() const { return cuts_; }
  /// Of all bytes that have arrived, with their connections, directions and times.
  std::uint64_t digest() const { return digest_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Called with each portion that arrives, for a trace.
  using Look = std::function<void(const Process& process, char direction, int link, std::string_view bytes)>;
  void watch(Look look) { look_ = std::move(look); }

 private:
  struct Weather {
    base::Duration least{}, most{};  // beyond what is usual
    bool held_back = false;
    std::vector<Place> hidden{};
    bool refused = false;
    bool loses_next = false;
  };
  /// What is on its way in one direction.
  struct Path {
    base::TimePoint latest{};  // when what was sent last arrives: nothing overtakes
    std::deque<std::string> arrived;
    bool swallowed = false;
    bool ended = false;  // behind what has arrived comes the end
  };
  struct Link {
    int number = 0;
    Process* process = nullptr;
    int fd = -1;
    ModelNode* node = nullptr;
    bool closed = false;  // by the client
    bool over = false;
    Path to_server, to_client;
    ModelNode::SessionPtr session;
    World::Chance chance;
  };
  using LinkPtr = std::shared_ptr<Link>;

  Weather& weather(const Process& process);
  bool held_back(const Process& process, const Place& node);
  void answer(Process& process, int fd, const Place& place);
  ModelNode::SessionPtr reach(const LinkPtr& link, const Place& place);
  void send(const LinkPtr& link, std::string bytes);
  void send_end(const LinkPtr& link);
  void send_back(const LinkPtr& link, std::string bytes);
  void drain_to_server(const LinkPtr& link);
  void drain_to_client(const LinkPtr& link);
  void drain_all();
  void send_back_end(const LinkPtr& link);
  void end(const LinkPtr& link);
  base::TimePoint arrival(Link& link, Path& path);
  void record(const Link& link, char direction, std::string_view bytes);
  template <class Which>
  void for_each(Which which, void (Network::*what)(const LinkPtr&));

  World& world_;
  std::vector<ModelNode*> nodes_;
  std::vector<Weather> weather_;  // by the numbers of processes
  std::vector<LinkPtr> links_;
  int last_ = 0;
  std::uint64_t cuts_ = 0;
  std::uint64_t digest_ = 14695981039346656037U;
  std::uint64_t bytes_ = 0;
  Look look_;
};

}  // namespace holdfast::test::sim
