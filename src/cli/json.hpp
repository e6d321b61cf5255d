// SPDX-License-Identifier: Apache-2.0
// Results and failures as JSON: what json/json.hpp has, and the tool's own.
#pragma once

#include <boost/json.hpp>

#include "cli/console.hpp"
#include "json/json.hpp"

namespace holdfast::cli {

using json::put_ms;
using json::put_text;
using json::text_json;
using json::to_json;

/// `{"code", "message", "key", "node"}`, the last two null when unknown.
boost::json::object to_json(const Problem& problem);

inline std::string json_line(const boost::json::value& value) { return json::line(value); }

}  // namespace holdfast::cli
