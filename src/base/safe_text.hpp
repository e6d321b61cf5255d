// Text from anywhere, made safe for where it is shown: one function for a terminal, one for a log. Whatever is printed
// or thrown passes one of them at last.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::base {

/// Lines stay lines; all else that cannot be told by its looks (unseen_length) and broken UTF-8 are escapes: `\x9b`.
std::string for_terminal(std::string_view text);

/// One line, for a log or an exception: the same, and the white space of ASCII that is not a space is one.
std::string for_log(std::string_view text);

/// Appends each byte as an escape: `\xc2\x9b`.
void append_escaped(std::string& out, std::string_view bytes);

/// The number of a character that is one well-formed sequence.
char32_t code_point(std::string_view character);

}  // namespace holdfast::base
