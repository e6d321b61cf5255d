// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <iterator>

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

namespace {

struct Range {
  char32_t first, last;
};
/// Control and format characters, blanks other than the space, what is of no width or is never drawn; in order.
constexpr Range kUnseen[] = {
    {0x00, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},
    {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},
    {0x115f, 0x1160},   {0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x2000, 0x200f},
    {0x2028, 0x202f},   {0x205f, 0x206f},   {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1345f}, {0x1bca0, 0x1bca3}, {0x1d159, 0x1d159},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if (first >= 0xe0 && first <= 0xef) length = 3;
  if (first >= 0xf0 && first <= 0xf4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

std::size_t unseen_length(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() >= ' ' && text.front() <= '~') return 0;
  const std::size_t length = utf8_length(text);
  if (length == 0) return 0;
  const char32_t point = code_point(text.substr(0, length));
  const auto* const range = std::ranges::lower_bound(kUnseen, point, {}, &Range::last);
  return range != std::end(kUnseen) && range->first <= point ? length : 0;
}

std::string quote(std::string_view bytes) {
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
    } else if (length == 0) {
      append_escaped(out, bytes.substr(0, 1));
    } else if (unseen_length(bytes) != 0) {
      append_escaped(out, bytes.substr(0, length));
      bytes.remove_prefix(length);
      continue;
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

std::string printable(std::string_view bytes) {
  const bool blank_edge = bytes.empty() || bytes.front() == ' ' || bytes.back() == ' ';
  std::string quoted = quote(bytes);
  const bool changed = quoted.size() != bytes.size() + 2;
  return blank_edge || changed ? quoted : std::string(bytes);
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text.front() != '%') {
      out += text.front();
      continue;
    }
    const auto value = text.size() < 3 ? std::nullopt : to_number<std::uint8_t>(text.substr(1, 2), 16);
    if (!value) return std::nullopt;
    out += static_cast<char>(*value);
    text.remove_prefix(2);
  }
  return out;
}

bool can_be_host(std::string_view text) {
  const auto odd = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || std::string_view("[]/@?#,\x7f").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kLongestHost && std::ranges::none_of(text, odd);
}

std::string host_and_port(std::string_view host, std::uint16_t port) {
  const bool literal = host.find(':') != std::string_view::npos;
  std::string out(literal ? "[" : "");
  out.append(host).append(literal ? "]:" : ":").append(std::to_string(port));
  return out;
}

std::string without_logins(std::string_view message) {
  constexpr std::string_view kMark = "://";
  constexpr std::string_view kExample = "user:password";  // in messages that explain where a login belongs
  constexpr std::size_t kNowhere = std::string_view::npos;
  std::string out;
  while (true) {
    const std::size_t mark = message.find(kMark);
    if (mark == kNowhere) return out.append(message);
    const std::size_t begin = mark + kMark.size();
    const std::string_view url = message.substr(begin, message.find_first_of(" \"'\n\t", begin) - begin);
    const std::size_t at = url.rfind('@');
    const bool secret = at != kNowhere && url.substr(0, at) != kExample;
    out.append(message.substr(0, begin)).append(secret ? "***" : "");
    message.remove_prefix(begin + (secret ? at : 0));
  }
}

}  // namespace holdfast::base
