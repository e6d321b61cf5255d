// SPDX-License-Identifier: Apache-2.0
#include "kinds/owner.hpp"

#include <algorithm>

#include "base/entropy.hpp"

namespace holdfast::wire {
namespace {

constexpr std::size_t kUuid = 36;
constexpr std::size_t kVersionDigit = 14;
constexpr std::size_t kPermit = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

std::string make_uuid(unsigned version) {
  const char* digits = "0123456789abcdef";
  std::string out;
  out.reserve(kUuid);
  for (int i = 0; i < 16; ++i) {
    unsigned byte = base::entropy() & 0xffU;
    if (i == 6) byte = (byte & 0x0fU) | (version << 4U);
    if (i == 8) byte = (byte & 0x3fU) | 0x80U;  // variant 1
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += digits[byte >> 4U];
    out += digits[byte & 0xfU];
  }
  return out;
}

bool is_uuid(std::string_view text) {
  if (text.size() != kUuid) return false;
  for (std::size_t i = 0; i < kUuid; ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool looks_like_owner(std::string_view field) {
  if (field.size() < kUuid + 2 || field[kUuid] != ':') return false;
  std::string_view number = field.substr(kUuid + 1);
  if (number.size() > 1 && number.front() == '-') number.remove_prefix(1);
  return is_uuid(field.substr(0, kUuid)) && std::ranges::all_of(number, is_digit);
}

bool looks_like_holder(std::string_view field) {
  if (looks_like_owner(field)) return true;
  return field.size() == 2 * kUuid + 1 && field[kUuid] == ':' && is_uuid(field.substr(0, kUuid)) &&
         is_uuid(field.substr(kUuid + 1));
}

std::string_view client_of(std::string_view owner) { return owner.substr(0, kUuid); }

std::string client_begin_of_permit(std::string_view shown) {
  const std::string_view digits = shown.substr(0, kPermit);
  if (digits.size() < kPermit || !std::ranges::all_of(digits, is_hex)) return {};
  std::string begin(digits.substr(0, 8));
  begin.append(1, '-').append(digits.substr(8, 4)).append(1, '-');
  return begin.append(digits.substr(12, 4));
}

bool is_named_client(std::string_view uuid) { return uuid.size() == kUuid && uuid[kVersionDigit] == '8'; }

}  // namespace holdfast::wire
