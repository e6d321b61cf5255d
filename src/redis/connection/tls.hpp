// SPDX-License-Identifier: Apache-2.0
// TLS as configured: the context for all connections, and the host that each of them expects.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <holdfast/config.hpp>

#include "redis/connection/aside.hpp"

namespace holdfast::redis {

/// Authorities and certificates: read again when their files change, or provided for each handshake. On the loop,
/// except for leave().
class TlsContext {
 public:
  /// The most that are read again in the process at the same time.
  static constexpr int kMostInProcess = 64;

  /// Reads them, unless they are provided. Not without TLS, since a context initialises OpenSSL, which takes longer
  /// than everything else in a short program. Throws Error(tls), naming the file that could not be read.
  TlsContext(const boost::asio::any_io_executor& executor, const Config& config);

  /// Reads the files again if they have changed, or calls the provider; if that fails, what was there before stays.
  /// Calls `ready` once, possibly at once, unless the next refresh(), forget() or leave() comes first; with why there
  /// is no context, if there is none. Has no time limit: the caller calls forget().
  void refresh(std::function<void(const std::string& problem)> ready);
  /// What refresh() waits for; empty: for nothing.
  std::string missing() const;
  void forget();
  /// A handshake has failed: reads the files again next time, even if they seem unchanged.
  void doubt() { loaded_.files.clear(); }
  /// From now on nothing is posted to the loop. From any thread.
  void leave() { reads_.leave(); }
  boost::asio::ssl::context& context() { return *loaded_.context; }

  struct Loaded {
    std::shared_ptr<boost::asio::ssl::context> context{};  ///< Null: nothing has changed, or none was provided yet.
    std::string files{};  ///< What the file system says of their state; empty: none can be read twice.
  };

 private:
  const Config& config_;
  Loaded loaded_;
  Aside<Loaded> reads_;
  bool fresh_ = false;  // read at the construction, and not used yet
  bool refreshing_ = false;
};

using TlsStream = boost::asio::ssl::stream<boost::asio::generic::stream_protocol::socket&>;

/// To be called before the handshake. Sends the host's name to the server, unless it is an address. If certificates are
/// verified, the server's must be trusted and, with Verify::full, valid for this host; if it is refused, `refusal`,
/// which outlives the stream, gets the reason as text.
void expect_host(TlsStream& stream, const std::string& host, TlsConfig::Verify verify, std::string& refusal);

}  // namespace holdfast::redis
