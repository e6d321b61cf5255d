// SPDX-License-Identifier: Apache-2.0
// What there is to know of locks and servers as JSON values, one line each: for the tool and for C.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include <holdfast/lock_info.hpp>
#include <holdfast/probe.hpp>

namespace holdfast::json {

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

boost::json::array to_json(const std::vector<LockInfo>& infos);

/// Findings of all servers, and between them; worst first, otherwise in this order.
std::vector<Finding> all_findings(std::span<const ProbeReport> reports);

/// `worst`, `nodes`, and these findings of theirs.
boost::json::object to_json(std::span<const ProbeReport> reports, const std::vector<Finding>& findings);

/// The value and a newline. Characters that a terminal would act on instead of showing are escaped everywhere.
std::string line(const boost::json::value& value);

}  // namespace holdfast::json
