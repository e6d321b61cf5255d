// What `ps` shows for a process of the tool.
#pragma once

namespace holdfast::cli {

/// Remembers where the system keeps this process's arguments. For main(), before anything else.
void remember_arguments(int argc, char** argv) noexcept;

/// Sets name and command line, cut to the room that the arguments have. Async-signal-safe.
void set_title(const char* title) noexcept;

}  // namespace holdfast::cli
