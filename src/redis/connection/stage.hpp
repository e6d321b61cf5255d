// What the end of a connection means in our own terms, by how far it had come.
#pragma once

#include <string_view>

#include <boost/system/error_code.hpp>

#include "redis/failures/errors.hpp"

namespace holdfast::redis {

/// How far a connection has come.
enum class Stage { look_up, connect, handshake, login, ready };
/// The meaning of a connection's end, for what waits for one. A stage that is out of time ends with `timed_out`, one
/// whose other side does not speak RESP with `errc::bad_message`. What was sent on it is `unknown`.
Meaning classify(Stage stage, const boost::system::error_code& error);

/// What is often wrong with the URL when a connection ends like this; empty: there is nothing to be guessed. `tls`: as
/// it says.
std::string_view hint(Stage stage, const boost::system::error_code& error, bool tls);

}  // namespace holdfast::redis
