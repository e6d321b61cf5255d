// SPDX-License-Identifier: Apache-2.0
#include "sim/model/resp3.hpp"

#include <charconv>
#include <stdexcept>

#include "sim/model/keyspace.hpp"

namespace holdfast::test {
namespace {

void put_line(std::string& out, char type, std::int64_t number) {
  char line[24] = {type};
  char* const end = std::to_chars(line + 1, line + 22, number).ptr;
  end[0] = '\r';
  end[1] = '\n';
  out.append(line, end + 2);
}

/// What follows `type` up to the end of the line.
std::optional<std::size_t> take_length(std::string_view bytes, std::size_t& position, char type) {
  const std::size_t end = bytes.find("\r\n", position);
  if (end == std::string_view::npos) return std::nullopt;
  const auto length = to_number(bytes.substr(position + 1, end - position - 1));
  if (bytes[position] != type || !length || *length < 0) {
    throw std::logic_error("a client has sent what is not a command: " + std::string(bytes.substr(position)));
  }
  position = end + 2;
  return static_cast<std::size_t>(*length);
}

}  // namespace

void put_number(std::string& out, std::int64_t value) { put_line(out, ':', value); }
void put_text(std::string& out, std::string_view value) {
  put_line(out, '$', static_cast<std::int64_t>(value.size()));
  out.append(value).append("\r\n");
}
void put_word(std::string& out, std::string_view word) { out.append("+").append(word).append("\r\n"); }
void put_error(std::string& out, std::string_view text) { out.append("-").append(text).append("\r\n"); }
void put_null(std::string& out) { out.append("_\r\n"); }
void put_head(std::string& out, char type, std::size_t count) { put_line(out, type, static_cast<std::int64_t>(count)); }
void put_push(std::string& out, std::string_view kind, std::string_view channel, std::string_view text) {
  put_head(out, '>', 3);
  put_text(out, kind);
  put_text(out, channel);
  put_text(out, text);
}

std::string in_resp2(std::string_view replies) {
  std::string out;
  for (std::size_t at = 0; at < replies.size();) {
    const char type = replies[at];
    std::size_t end = replies.find("\r\n", at) + 2;
    const auto count = to_number(replies.substr(at + 1, end - 2 - at - 1));
    if (type == '_') {
      out.append("$-1\r\n");
    } else if (type == '%' || type == '>') {
      put_head(out, '*', static_cast<std::size_t>(*count) * (type == '%' ? 2 : 1));
    } else {
      if (type == '$') end += static_cast<std::size_t>(*count) + 2;
      out.append(replies.substr(at, end - at));
    }
    at = end;
  }
  return out;
}

bool take_command(std::string_view bytes, std::size_t& position, std::vector<std::string_view>& args) {
  args.clear();
  std::size_t at = position;
  const auto count = take_length(bytes, at, '*');
  if (!count) return false;
  for (std::size_t i = 0; i < *count; ++i) {
    const auto length = take_length(bytes, at, '$');
    if (!length || bytes.size() < at + *length + 2) return false;
    args.push_back(bytes.substr(at, *length));
    at += *length + 2;
  }
  position = at;
  return true;
}

}  // namespace holdfast::test
