// SPDX-License-Identifier: Apache-2.0
// Finds the address that a lane connects to; asked again for each session.
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
  std::string unix_socket{};  ///< A path; if set, host and port are ignored.
};

/// `host:port`, or the path of a unix socket.
std::string in_words(const ServerAddress& address);

/// What to expect after a session has ended.
enum class Prospect : std::uint8_t {
  same,     ///< Another attempt will find the same address.
  changes,  ///< The address is about to change: waiting requests may keep waiting.
  another,  ///< There is an address that was not tried yet: it is tried at once.
};

/// On the loop.
class EndpointSource {
 public:
  virtual ~EndpointSource() = default;

  /// The address, or why there is none, as text.
  using Found = std::function<void(std::optional<ServerAddress> address, const std::string& problem)>;
  /// Finds the server. Calls `found` once, possibly at once, unless forget() comes first. Has no time limit: the caller
  /// calls forget(). One call at a time.
  virtual void find(Found found) = 0;
  /// The answer is no longer needed.
  virtual void forget() = 0;
  /// What it waits for; a text to follow "no".
  virtual std::string missing() const = 0;

  /// The session at the latest address has ended, or never began. `served`: its login succeeded, and the server took
  /// writes until the end.
  virtual Prospect on_end(bool served) = 0;
  /// How many addresses share the time for connecting.
  virtual std::size_t addresses() const { return 1; }
  /// Why the server is no longer at the address found last.
  using Moved = std::function<void(const std::string& why)>;
  /// Sets what to call when the server turns out to have moved, without having been asked. Never called from within a
  /// call.
  virtual void watch(const Moved&) {}
};

/// The configured address, or each of several in turn; one that served is kept.
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
  std::size_t failed_ = 0;  // in a row
};

}  // namespace holdfast::redis
