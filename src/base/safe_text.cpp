#include "base/safe_text.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace holdfast::base {
namespace {

bool is_gap(char c) { return c >= '\t' && c <= '\r'; }

/// With what cannot be told by its looks as escapes, but what `keeps` takes as it makes it.
template <class Keeps>
std::string escaped(std::string_view text, Keeps keeps) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    const std::string_view character = text.substr(0, length);
    if (const char kept = keeps(text.front()); kept != '\0') {
      out += kept;
    } else if (utf8_length(text) == 0 || unseen_length(text) != 0) {
      append_escaped(out, character);
    } else {
      out += character;
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    out.append({'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 0xfU]});
  }
}

std::string for_terminal(std::string_view text) {
  return escaped(text, [](char c) { return c == '\n' ? c : '\0'; });
}

std::string for_log(std::string_view text) {
  return escaped(text, [](char c) { return is_gap(c) ? ' ' : '\0'; });
}

char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  char32_t point = character.size() == 1 ? first : first & (0x7fU >> character.size());
  for (const char each : character.substr(1)) point = point << 6U | (static_cast<unsigned char>(each) & 0x3fU);
  return point;
}

}  // namespace holdfast::base
