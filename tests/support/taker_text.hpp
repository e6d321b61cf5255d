// SPDX-License-Identifier: Apache-2.0
// How a taker and its driver write a line: fields between single spaces, each percent-encoded.
#pragma once

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// Bytes outside of `!` to `~`, and `%` itself, as `%XX`: the result has no space and no line end.
inline std::string percent_encode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '%') {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

inline std::string percent_decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] != '%') {
      decoded += text[i];
    } else if (i + 2 < text.size() + 0 &&
               std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      throw std::invalid_argument("bad percent-encoding: " + std::string(text));
    }
  }
  return decoded;
}

/// The fields of a line, decoded. Two spaces in a row have an empty field between them.
inline std::vector<std::string> split_fields(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t end = std::min(line.find(' '), line.size());
    fields.push_back(percent_decode(line.substr(0, end)));
    if (end == line.size()) return fields;
    line.remove_prefix(end + 1);
  }
}

inline std::string join_fields(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ' ';
    line += percent_encode(field);
  }
  return line;
}

}  // namespace holdfast::test
