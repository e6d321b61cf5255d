// Our commands and settings in Boost.Redis' terms.
#pragma once

#include <string_view>
#include <vector>

#include <boost/redis/config.hpp>
#include <boost/redis/request.hpp>

#include <holdfast/config.hpp>

#include "base/resp.hpp"

namespace holdfast::redis {

void append(boost::redis::request& bytes, const std::vector<std::string_view>& args);
/// A script goes by its hash, or with `full_text` by its text.
void append(boost::redis::request& bytes, const base::Command& command, bool full_text);

/// Nothing is sent later than now, and nothing is sent twice: that is decided above.
boost::redis::request::config request_config();
boost::redis::config connection_config(const Config& config);

}  // namespace holdfast::redis
