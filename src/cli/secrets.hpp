// Passwords that stand where they should not: no message repeats them.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// True for a server's URL with a user or a password in it.
bool has_login(std::string_view text);

/// An argument for people: printable, and of a server's URL no more than the scheme.
std::string shown(std::string_view arg);

/// A message in which every URL, of whatever scheme, has lost its login.
std::string without_logins(std::string_view message);

}  // namespace holdfast::cli
