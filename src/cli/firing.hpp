// The minute for which a scheduled command runs, as text.
#pragma once

#include <string>

namespace holdfast::cli {

/// `2026-11-23T02:00` unchanged; `now` becomes this minute in UTC, by this machine's clock. Throws UsageError for text
/// that is not a valid minute, and for a minute more than an hour ahead of this machine's clock, in UTC and here.
std::string firing(const std::string& option, const std::string& text);

}  // namespace holdfast::cli
