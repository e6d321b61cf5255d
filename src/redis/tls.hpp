// The TLS context of a connection, from the configuration.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <holdfast/config.hpp>

namespace holdfast::redis {

/// Loads authorities and certificates and switches on verification of the server's name.
/// Throws Error(tls) that names the file that could not be read.
boost::asio::ssl::context make_tls_context(const Config& config);

}  // namespace holdfast::redis
