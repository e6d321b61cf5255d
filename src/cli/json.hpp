// Results and failures as JSON values, one line each.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include <holdfast/lock.hpp>

#include "cli/console.hpp"

namespace holdfast::cli {

/// Sets `key` to the text. JSON cannot hold arbitrary bytes: a text that is not UTF-8 is set quoted with escapes, as
/// people see it, and `key_base64` has it exactly.
void put_text(boost::json::object& object, std::string_view key, std::string_view text);

/// The text as one value; one that is not UTF-8 in quotes with escapes.
boost::json::string text_json(std::string_view text);

/// Sets `key` to a number of milliseconds, or null.
void put_ms(boost::json::object& object, std::string_view key, std::optional<std::chrono::milliseconds> duration);

/// `kind`, `connection`, and details of an open connection: `host`, `process`, `label`, `address`, `connected_ms`, each
/// null without one. Null if not requested.
boost::json::value to_json(const std::optional<Holder>& holder);

/// `owner`, `mode` (`exclusive` or `shared`), `count`, `remaining_ms` and `holder`.
boost::json::object to_json(const LockHolder& holder);
/// `owner`, `keeps_place_ms` and `holder` (null if not known).
boost::json::object to_json(const LockWaiter& waiter);

/// `name`, `owner` (null when free), `remaining_ms`, `holds`, `holder`, `listeners` and `queued` (null if not
/// known), `holders`, `queue`.
boost::json::object to_json(const LockInfo& info);

/// `{"code", "message", "key", "node"}`, the last two null when unknown.
boost::json::object to_json(const Problem& problem);

/// The value and a newline. Characters that a terminal would act on instead of showing are escaped everywhere.
std::string json_line(const boost::json::value& value);

}  // namespace holdfast::cli
