// The TLS context of a connection, from the configuration.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include <holdfast/config.hpp>

namespace holdfast::redis {

/// Why a server's certificate was refused, in words; empty if it was not. Shared with the context's verification.
using TlsRefusal = std::shared_ptr<std::string>;

/// Loads authorities and certificates and switches on verification of the server's name. Empty without TLS: a context
/// initialises OpenSSL, which takes longer than all else that a short program does.
/// Throws Error(tls) that names the file that could not be read.
std::optional<boost::asio::ssl::context> make_tls_context(const Config& config, TlsRefusal refusal);

}  // namespace holdfast::redis
