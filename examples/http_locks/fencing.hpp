// SPDX-License-Identifier: Apache-2.0
// A middleware: what stands before a handler that writes, and refuses requests of old lock holders.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/beast/http.hpp>

namespace http_locks {

inline constexpr std::string_view kTokenHeader = "X-Fencing-Token";

/// The token of a request; empty: it has none, or something else.
template <class Request>
std::optional<std::int64_t> token_of(const Request& request) {
  const auto field = request[kTokenHeader];
  const std::string_view text(field.data(), field.size());
  std::int64_t token = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return token;
}

/// Calls `write(token)`, which checks and writes in one step and returns false if the token is old. 204: written; 409
/// Conflict: refused, the lock is lost and has another owner; 428 Precondition Required: there is no token.
template <class Request, class Write>
boost::beast::http::status fenced(const Request& request, Write&& write) {
  namespace http = boost::beast::http;
  const std::optional<std::int64_t> token = token_of(request);
  if (!token) return http::status::precondition_required;
  return write(*token) ? http::status::no_content : http::status::conflict;
}

}  // namespace http_locks
