// Connections between simulated clients and the model server: bytes take their time, and links can be cut.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/model_server.hpp"
#include "sim/world.hpp"
#include "support/spawn.hpp"

namespace holdfast::test {

/// One at a time.
class Network {
 public:
  Network(World& world, ModelServer& server);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  static Network& current();

  /// `done` has the client's end of a connection, or -1: refused.
  void dial(std::function<void(int fd)> done);
  /// Cuts all connections; what is on its way is lost.
  void cut();
  void set_reachable(bool reachable) { reachable_ = reachable; }

  int cuts() const { return cuts_; }
  /// Of all bytes that have arrived, with their connections, directions and times.
  std::uint64_t digest() const { return digest_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Link {
    Fd fd;  // the server's end
    int number = 0;
    bool cut = false;
    base::TimePoint to_server{}, to_client{};  // when what was sent last arrives: nothing overtakes
    std::shared_ptr<ModelServer::Session> session;
  };
  using LinkPtr = std::shared_ptr<Link>;
  static constexpr base::Duration kFastest = std::chrono::microseconds(50);
  static constexpr base::Duration kSlowest = std::chrono::microseconds(500);

  bool pump();
  void arrive_at_server(const LinkPtr& link, std::string bytes);
  void arrive_at_client(const LinkPtr& link, const std::string& bytes);
  void end(Link& link);
  base::TimePoint arrival(base::TimePoint& latest);
  void record(const Link& link, char direction, const std::string& bytes);

  World& world_;
  ModelServer& server_;
  std::vector<LinkPtr> links_;
  int last_ = 0;
  bool reachable_ = true;
  int cuts_ = 0;
  std::uint64_t digest_ = 14695981039346656037U;
  std::uint64_t bytes_ = 0;
};

}  // namespace holdfast::test
