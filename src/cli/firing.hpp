// The minute for which a scheduled command runs, as text.
#pragma once

#include <string>

namespace holdfast::cli {

/// `2026-11-23T02:00` unchanged; `now` becomes this minute in UTC, by this machine's clock. Throws UsageError for text
/// that is not a valid minute.
std::string firing(const std::string& option, const std::string& text);

}  // namespace holdfast::cli
