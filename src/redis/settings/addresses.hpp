// Where servers, Sentinels and a cluster's nodes are, in a URL and in a Config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "redis/settings/url.hpp"

namespace holdfast::redis {

/// Applies the part between login and query, except the database. Returns what is wrong with it, or nothing.
std::string read_addresses(const Url& url, Config& config);
/// Empty: there is none in the path.
std::string_view database_in_path(const Url& url);
/// Applies a parameter whose name contains `sentinel`. Returns what is wrong with it, or nothing.
std::string read_sentinel_parameter(const Url& url, const Url::Parameter& parameter, Config& config);

/// What is wrong with them; empty: nothing.
std::string check_addresses(const Config& config);

/// Host and port, followed by the alternatives.
std::vector<NodeAddress> all_addresses(const Config& config);
/// `host:port`, separated by commas.
std::string in_words(const std::vector<NodeAddress>& addresses);

}  // namespace holdfast::redis
