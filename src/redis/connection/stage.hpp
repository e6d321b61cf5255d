// SPDX-License-Identifier: Apache-2.0
// What the end of a connection means in our own terms, depending on how far it had come.
#pragma once

#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>

#include "redis/decide/errors.hpp"

namespace holdfast::redis {

/// How far a connection has come.
enum class Stage { look_up, connect, handshake, login, ready };

/// The end of a connection.
struct Ending {
  Stage stage{};
  boost::system::error_code error;  ///< `bad_message`: the server does not speak the protocol, or exceeds the limits.
  std::string problem;              ///< As text.
};

/// The meaning of a connection's end, for requests that wait for one. `timed_out`: a stage took too long;
/// `errc::bad_message`: the server does not speak RESP. Requests already sent are `unknown`.
Meaning classify(Stage stage, const boost::system::error_code& error);

/// What is often wrong with the URL when a connection ends like this; empty: no guess. `tls`: the URL asks for TLS.
std::string_view hint(Stage stage, const boost::system::error_code& error, bool tls);

}  // namespace holdfast::redis
