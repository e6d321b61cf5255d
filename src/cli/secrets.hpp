// Keeps passwords in the wrong place out of messages.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// True for a server's URL with a user or a password in it.
bool has_login(std::string_view text);

/// An argument for people: printable, and only the scheme of a server's URL.
std::string shown(std::string_view arg);

/// The message with the logins of all URLs removed, whatever their scheme.
std::string without_logins(std::string_view message);

}  // namespace holdfast::cli
