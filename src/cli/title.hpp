// What `ps` shows of a process of the tool.
#pragma once

namespace holdfast::cli {

/// For main(), before anything else: where the system keeps the arguments of this process.
void remember_arguments(int argc, char** argv) noexcept;

/// Sets name and command line, cut to what the arguments have room for. Async-signal-safe.
void set_title(const char* title) noexcept;

}  // namespace holdfast::cli
