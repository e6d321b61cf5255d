// SPDX-License-Identifier: Apache-2.0
// Where servers, Sentinels and a cluster's nodes are, in a URL and in a Config.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

namespace holdfast::redis {

/// Parses a server's URL. Knows the grammar (RFC 3986, strictly), not what the settings mean. The parts of a URL,
/// percent-decoded.
struct Url {
  enum class Scheme { redis, rediss, unix_socket, local };
  enum class Shape {
    server,     ///< If several are given, the server is one of them.
    sentinels,  ///< Of Sentinels: `redis+sentinel` and `rediss+sentinel`.
    cluster,    ///< Of nodes of a cluster: `redis+cluster` and `rediss+cluster`.
  };
  struct Parameter {
    std::string name;
    std::string value;
  };

  struct Server {
    std::string host;                   ///< An IPv6 address without its brackets; empty if there is none.
    std::optional<std::uint16_t> port;  ///< Never 0.
  };

  Scheme scheme = Scheme::redis;
  Shape shape = Shape::server;
  std::string user;
  std::string password;
  std::vector<Server> servers{1};  ///< At least one; if several, each has a host.
  std::string path;                ///< With its leading slash; empty if there is none.
  std::vector<Parameter> query;    ///< In the order of the URL; names are unique.
};

/// Throws bad_url().
Url parse_url(std::string_view text);

/// The error for a URL, to be thrown. It shows the URL without what may be secret: user, password, query, and all of a
/// part that cannot be understood, since a password with an unescaped character ends up anywhere.
Error bad_url(std::string_view text, const std::string& problem);

/// Applies the part between login and query, except the database. Returns what is wrong with it, or nothing.
std::string read_addresses(const Url& url, Config& config);
/// Empty: there is none in the path.
std::string_view database_in_path(const Url& url);
/// Applies a parameter whose name contains `sentinel`. Returns what is wrong with it, or nothing.
std::string read_sentinel_parameter(const Url& url, const Url::Parameter& parameter, Config& config);

/// Applies `map` or `map_file`. Returns what is wrong with it, or nothing.
std::string read_map(const Url::Parameter& parameter, Config& config);

/// What is wrong with them; empty: nothing.
std::string check_addresses(const Config& config);

/// `host:port`, separated by commas.
std::string in_words(const std::vector<NodeAddress>& addresses);

}  // namespace holdfast::redis
