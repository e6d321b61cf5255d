// SPDX-License-Identifier: Apache-2.0
#include "support/monitor_line.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::test {
namespace {

char unescaped(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    default:
      return letter;
  }
}

/// Reads one quoted argument that starts at `at` (the opening quote) and moves `at` behind it.
std::string read_argument(const std::string& text, std::size_t& at) {
  std::string out;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out += text[at];
    } else if (text[at + 1] == 'x' && at + 3 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(at + 2, 2), nullptr, 16));
      at += 3;
    } else {
      out += unescaped(text[++at]);
    }
  }
  ++at;
  return out;
}

}  // namespace

MonitorLine parse_monitor_line(std::string text) {
  MonitorLine line;
  const std::size_t open = text.find('[');
  const std::size_t space = text.find(' ', open);
  const std::size_t close = text.find("] \"", open);
  if (open != std::string::npos && space < close && close != std::string::npos) {
    line.client = text.substr(space + 1, close - space - 1);
    for (std::size_t at = close + 2; at < text.size() && text[at] == '"'; ++at) {
      line.args.push_back(read_argument(text, at));
    }
  }
  line.text = std::move(text);
  return line;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace holdfast::test
