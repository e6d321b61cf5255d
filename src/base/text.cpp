#include "base/text.hpp"

#include <algorithm>

namespace holdfast::base {
namespace {

/// Multi-byte: C1 controls, changes of text direction, line separators.
bool is_unseen_sequence(std::string_view sequence) {
  const auto second = static_cast<unsigned char>(sequence[1]);
  if (sequence.size() == 2) return (sequence[0] == '\xc2' && second < 0xa0) || sequence == "\xd8\x9c";
  if (sequence.size() != 3 || sequence[0] != '\xe2') return false;
  const auto last = static_cast<unsigned char>(sequence[2]);
  if (second == 0x80) return last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae);
  return second == 0x81 && last >= 0xa6 && last <= 0xa9;
}

void append_escaped(std::string& out, char c) {
  const char* digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out.append({'\\', 'x', digits[byte >> 4U], digits[byte & 0xfU]});
}

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
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 1 : 0;
  const std::size_t length = utf8_length(text);
  return length != 0 && is_unseen_sequence(text.substr(0, length)) ? length : 0;
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
      append_escaped(out, bytes.front());
    } else if (unseen_length(bytes) != 0) {
      for (const char each : bytes.substr(0, length)) append_escaped(out, each);
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

}  // namespace holdfast::base
