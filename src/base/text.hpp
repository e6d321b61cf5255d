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
