// TLS as configured: the context for all connections, and the host that each of them expects.
#pragma once

#include <optional>
#include <string>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <holdfast/config.hpp>

namespace holdfast::redis {

/// Loads authorities and certificates. Empty without TLS, since a context initialises OpenSSL, which takes longer than
/// everything else in a short program. Throws Error(tls), naming the file that could not be read.
std::optional<boost::asio::ssl::context> make_tls_context(const Config& config);

using TlsStream = boost::asio::ssl::stream<boost::asio::generic::stream_protocol::socket&>;

/// To be called before the handshake. Sends the host's name to the server, unless it is an address. If certificates are
/// verified, the server's must be trusted and valid for this host; if it is refused, `refusal`, which outlives the
/// stream, gets the reason as text.
void expect_host(TlsStream& stream, const std::string& host, TlsConfig::Verify verify, std::string& refusal);

}  // namespace holdfast::redis
