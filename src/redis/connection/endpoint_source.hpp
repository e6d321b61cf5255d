// Where the server is that a lane is to connect to: asked anew for each session.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>

namespace holdfast::redis {

/// Before a name is looked up.
struct ServerAddress {
  std::string host{};  ///< A name, or an address.
  std::uint16_t port = 0;
  std::string unix_socket{};  ///< A path. When set, host and port are not used.
};

/// `host:port`, or the path of a unix socket.
std::string in_words(const ServerAddress& address);

/// What may come after a session has ended.
enum class Prospect : std::uint8_t {
  same,     ///< Nothing is known that would be better than the same again.
  changes,  ///< Where the server is is being decided by others: whoever waits may go on waiting.
  another,  ///< There is an address that was not tried yet: it is the next, at once.
};

/// On the loop.
class EndpointSource {
 public:
  virtual ~EndpointSource() = default;

  /// The address, or in words why there is none.
  using Found = std::function<void(std::optional<ServerAddress> address, const std::string& problem)>;
  /// Where is the server now? Calls `found` once, perhaps at once, unless forget() comes first. Has no limit of its
  /// own: whoever waits forgets it. One question at a time.
  virtual void find(Found found) = 0;
  /// Nobody waits for the answer any more.
  virtual void forget() = 0;
  /// What it waits for, in words that follow "no".
  virtual std::string missing() const = 0;

  /// The session with the latest address has ended, or has not come about. `served`: its login was through, and the
  /// server has taken writes to the end.
  virtual Prospect on_end(bool served) = 0;
  /// Among how many addresses the time for connecting is shared.
  virtual std::size_t addresses() const { return 1; }
  /// Somewhere else, in words, than at the latest address that it has found.
  using Moved = std::function<void(const std::string& why)>;
  /// Whom to tell if the server is found to be somewhere else, without having been asked. Never from within a call.
  virtual void watch(const Moved&) {}
};

/// The configured address, or each of several in turn; one that serves stays.
class ConfiguredEndpoint final : public EndpointSource {
 public:
  explicit ConfiguredEndpoint(const Config& config);

  void find(Found found) override { found(addresses_[latest_], {}); }
  void forget() override {}
  std::string missing() const override { return "address of the server"; }
  Prospect on_end(bool served) override;
  std::size_t addresses() const override { return addresses_.size(); }

 private:
  std::vector<ServerAddress> addresses_;
  std::size_t latest_ = 0;
  std::size_t failed_ = 0;  // of them in a row
};

}  // namespace holdfast::redis
