// TLS as configured: the context of all connections, and whom each of them expects.
#pragma once

#include <optional>
#include <string>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <holdfast/config.hpp>

namespace holdfast::redis {

/// Loads authorities and certificates. Empty without TLS: a context initialises OpenSSL, which takes longer than all
/// else that a short program does. Throws Error(tls) that names the file that could not be read.
std::optional<boost::asio::ssl::context> make_tls_context(const Config& config);

using TlsStream = boost::asio::ssl::stream<boost::asio::generic::stream_protocol::socket&>;

/// Before the handshake: the server is told the name it is called by, if it is one, and its certificate must be trusted
/// and for that host, if certificates are to be verified. If one is refused, `refusal`, which outlives the stream, says
/// in words why.
void expect_host(TlsStream& stream, const std::string& host, TlsConfig::Verify verify, std::string& refusal);

}  // namespace holdfast::redis
