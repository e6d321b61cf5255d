// Where the server is that a lane is to connect to: asked anew for each session.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/config.hpp>

namespace holdfast::redis {

/// Before a name is looked up.
struct ServerAddress {
  std::string host{};  ///< A name, or an address.
  std::uint16_t port = 0;
  std::string unix_socket{};  ///< A path. When set, host and port are not used.
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
};

/// Always the one of the configuration.
class FixedEndpoint final : public EndpointSource {
 public:
  explicit FixedEndpoint(const Config& config) : address_{config.host, config.port, config.unix_socket} {}

  void find(Found found) override { found(address_, {}); }
  void forget() override {}
  std::string missing() const override { return "address of the server"; }

 private:
  const ServerAddress address_;
};

}  // namespace holdfast::redis
