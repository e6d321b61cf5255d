// SPDX-License-Identifier: Apache-2.0
// Durations, percent encoding, and names made printable.
#include "base/text.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <variant>

#include "base/duration.hpp"
#include "fuzz/fuzz.hpp"

namespace holdfast::fuzz {
namespace {

using std::chrono::milliseconds;

void check_duration(std::string_view text) {
  for (const base::BareNumber bare : {base::BareNumber::seconds, base::BareNumber::refused}) {
    const auto parsed = base::parse_duration(text, bare);
    const auto* value = std::get_if<milliseconds>(&parsed);
    if (value == nullptr) continue;
    require(*value >= milliseconds(0), "no duration is below zero", text);
    require(*value <= base::kLongestDuration, "no duration is above the longest", text);
    const auto again = base::parse_duration(std::to_string(value->count()) + "ms", bare);
    require(std::get_if<milliseconds>(&again) != nullptr && std::get<milliseconds>(again) == *value,
            "a duration in milliseconds is read as it is", text);
  }
}

void check_percent(std::string_view text) {
  const auto decoded = base::percent_decoded(text);
  const bool escapes = text.find('%') != text.npos;
  require(escapes || (decoded && *decoded == text), "a text without escapes is left as it is", text);
  if (decoded) {
    const auto signs = static_cast<std::size_t>(std::ranges::count(text, '%'));
    require(decoded->size() + 2 * signs >= text.size(), "an escape stands for one byte", text);
    require(decoded->size() <= text.size(), "decoding makes nothing longer", text);
  }
}

void check_quotes(std::string_view text) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const std::string quoted = base::quote(text);
  require(std::ranges::none_of(quoted, control), "what is quoted has no control characters", quoted);
  require(quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"', "quotes stand around it", quoted);
  require(quoted.size() <= 4 * text.size() + 2, "a byte becomes four at most", quoted);
  require(base::quote(quoted.substr(1, quoted.size() - 2)).size() >= quoted.size(), "what is printable stays so",
          quoted);
  const std::string printable = base::printable(text);
  require(printable == text || printable == quoted, "what is printed is the text or its quoted form", printable);
  require(std::ranges::none_of(printable, control), "what is printable has no control characters", printable);
}

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(text, input) {
  holdfast::fuzz::check_duration(input);
  holdfast::fuzz::check_percent(input);
  holdfast::fuzz::check_quotes(input);
}
