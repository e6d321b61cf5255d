#include "base/text.hpp"

namespace holdfast::base {
namespace {

/// Length of the well-formed UTF-8 sequence at the start of `s`, or 0.
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if (length == 0 || s.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

}  // namespace

std::string quote(std::string_view bytes) {
  const char* digits = "0123456789abcdef";
  std::string out = "\"";
  while (!bytes.empty()) {
    const auto c = static_cast<unsigned char>(bytes.front());
    const std::size_t length = utf8_length(bytes);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20 || c == 0x7f || length == 0) {
      out += "\\x";
      out += digits[c >> 4U];
      out += digits[c & 0xfU];
    } else {
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
      continue;
    }
    bytes.remove_prefix(1);
  }
  out += '"';
  return out;
}

}  // namespace holdfast::base
