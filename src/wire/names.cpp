#include "wire/names.hpp"

#include <algorithm>

namespace holdfast::wire {

std::string prefixed(std::string_view prefix, std::string_view name) {
  std::string out;
  out.reserve(prefix.size() + name.size() + 3);
  out.append(prefix);
  if (name.find('{') != std::string_view::npos) return out.append(":").append(name);
  return out.append(":{").append(name).append("}");
}

std::string lock_channel(std::string_view name) { return prefixed("redisson_lock__channel", name); }

std::string simple_lock_channel(std::string_view name) { return prefixed("holdfast_simple_lock__channel", name); }

bool looks_like_owner(std::string_view field) {
  constexpr std::size_t kUuid = 36;
  if (field.size() < kUuid + 2 || field[kUuid] != ':') return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_hex = [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  for (std::size_t i = 0; i < kUuid; ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? field[i] != '-' : !is_hex(field[i])) return false;
  }
  return std::ranges::all_of(field.substr(kUuid + 1), is_digit);
}

}  // namespace holdfast::wire
