// A server in simulated time: what it does for each of the plain lock's scripts is written here once more, in C++.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/world.hpp"

namespace holdfast::test {

/// RESP3. Knows hashes with an expiry, channels, and scripts by their SHA-1.
class ModelServer {
 public:
  using Send = std::function<void(std::string bytes)>;
  struct Session {
    std::int64_t id = 0;
    Send send;
    std::string unread;
    std::string name;
    std::set<std::string> channels;
    bool connected = true;
  };

  explicit ModelServer(World& world) : world_(world) {}

  std::shared_ptr<Session> connect(Send send);
  void disconnect(Session& session);
  void receive(const std::shared_ptr<Session>& session, std::string bytes);

  /// The fields of a lock, which are its owners.
  std::vector<std::string> owners(const std::string& key);
  std::uint64_t commands() const { return commands_; }

 private:
  using Args = std::vector<std::string>;
  struct Lock {
    std::map<std::string, int> fields;
    std::optional<base::TimePoint> expires;
  };

  static std::optional<Args> take_command(std::string& unread);
  std::string execute(const std::shared_ptr<Session>& session, const Args& command);
  std::string subscribe(Session& session, const Args& command, bool on);
  std::string client(Session& session, const Args& command);
  std::string run_script(const Args& command);
  std::string acquire(const Args& keys, const Args& args);
  std::string release(const Args& keys, const Args& args);
  std::string renew(const Args& keys, const Args& args);

  Lock* find(const std::string& key);
  std::int64_t remaining(const Lock& lock) const;
  int listeners(const std::string& channel) const;
  int publish(const std::string& channel, const std::string& payload);

  World& world_;
  std::map<std::int64_t, std::shared_ptr<Session>> sessions_;
  std::set<std::string> loaded_;  // SHA-1s of scripts
  std::map<std::string, Lock> locks_;
  std::int64_t last_id_ = 0;
  std::uint64_t commands_ = 0;
};

}  // namespace holdfast::test
