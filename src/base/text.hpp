// SPDX-License-Identifier: Apache-2.0
// Text for people: names that may hold any bytes, made printable. And the other way: numbers and bytes read from text.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast::base {

// Text from anywhere, made safe for where it is shown: one function for a terminal, one for a log. Whatever is printed
// or thrown passes one of them at last.

/// Lines stay lines; all else that cannot be told by its looks (unseen_length) and broken UTF-8 are escapes: `\x9b`.
std::string for_terminal(std::string_view text);

/// One line, for a log or an exception: the same, and the white space of ASCII that is not a space is one.
std::string for_log(std::string_view text);

/// The message with the logins of all URLs removed, whatever their scheme.
std::string without_logins(std::string_view message);

/// Appends each byte as an escape: `\xc2\x9b`.
void append_escaped(std::string& out, std::string_view bytes);

/// The number of a character that is one well-formed sequence.
char32_t code_point(std::string_view character);

/// The length of the well-formed UTF-8 sequence that the text begins with, or 0. The text is not empty.
std::size_t utf8_length(std::string_view text);

/// The length of the text's first character if it cannot be told by its looks: a control or a format character, no
/// width, never drawn, a blank that is not the space. 0: it is shown, or it is not UTF-8.
std::size_t unseen_length(std::string_view text);

/// The bytes in double quotes; quotes, backslashes, broken UTF-8 and what cannot be told by its looks as escapes (`\n`,
/// `\x00`).
std::string quote(std::string_view bytes);

/// The bytes as they are, or quoted if something would be an escape or invisible: a space at an end, an empty
/// text.
std::string printable(std::string_view bytes);

/// The longest name in DNS, with room for an IPv6 address and its zone.
constexpr std::size_t kLongestHost = 255;
/// Whether a host can be called so: neither empty nor too long, and without what separates the parts of a URL.
bool can_be_host(std::string_view text);

/// `host:port`, or `[address]:port` if the host is an IPv6 address.
std::string host_and_port(std::string_view host, std::uint16_t port);

/// With `%XX` decoded; empty if a `%` is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

/// The number that the whole text is; empty: it is something else, or does not fit.
template <class Number>
std::optional<Number> to_number(std::string_view text, int radix = 10) {
  Number number{};
  const char* const end = std::to_address(text.end());
  const auto [stop, error] = std::from_chars(std::to_address(text.begin()), end, number, radix);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace holdfast::base
