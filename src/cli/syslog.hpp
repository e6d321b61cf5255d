// The system's log, as syslogd and journald keep it.
#pragma once

#include <string_view>

namespace holdfast::cli {

/// The numbers of syslog(3).
enum class LogLevel { error = 3, notice = 5, info = 6 };

/// Sends one message of the tool. Does not block. False if no daemon accepts it: then it must be written elsewhere.
bool write_to_syslog(LogLevel level, std::string_view text) noexcept;

}  // namespace holdfast::cli
