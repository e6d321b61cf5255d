// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/stage.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/errc.hpp>

namespace holdfast::redis {

Meaning classify(Stage stage, const boost::system::error_code& error) {
  constexpr Meaning kUnreachable{Errc::unreachable, Fate::transient};
  if (stage == Stage::ready) return kUnreachable;
  // An untrusted certificate, an alert, or no TLS at all; but not a server that hung up or is slow.
  if (error.category() == boost::asio::error::get_ssl_category()) {
    const bool hung_up =
        ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    return hung_up ? kUnreachable : Meaning{Errc::tls, Fate::lasting};
  }
  if (stage == Stage::login && error == boost::system::errc::bad_message) {
    return {Errc::unsupported_by_server, Fate::lasting};
  }
  return kUnreachable;
}

std::string_view hint(Stage stage, const boost::system::error_code& error, bool tls) {
  if (stage == Stage::handshake && error.category() == boost::asio::error::get_ssl_category() &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_WRONG_VERSION_NUMBER) {
    return "the port does not speak TLS: without it a URL begins with redis://";
  }
  const bool hung_up = error == boost::asio::error::eof || error == boost::asio::error::connection_reset;
  if (stage == Stage::login && !tls && hung_up) {
    return "a port that speaks TLS does so: then its URL begins with rediss://; or a proxy without RESP3: protocol=2";
  }
  return {};
}

}  // namespace holdfast::redis
