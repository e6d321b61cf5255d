// The system's log, as syslogd and journald keep it.
#pragma once

#include <string_view>

namespace holdfast::cli {

/// As syslog(3) numbers them.
enum class LogLevel { error = 3, notice = 5, info = 6 };

/// One message of the tool. Does not wait. False if nobody takes it: then it is to be said elsewhere.
bool write_to_syslog(LogLevel level, std::string_view text) noexcept;

}  // namespace holdfast::cli
