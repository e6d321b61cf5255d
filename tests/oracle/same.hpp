// SPDX-License-Identifier: Apache-2.0
// When two replies, of a real server and of the model, are the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/resp.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::test::oracle {

/// Times to live run down, and the two sides look one after the other. Leases are much further apart.
constexpr std::int64_t kSlack = 8'000;

inline std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

/// Servers word errors differently, and those out of scripts most of all.
inline bool same_error(const std::string& one, const std::string& other) {
  if (one.starts_with("WRONGTYPE it is ") || one.starts_with("WRONGTYPE name ")) return one == other;  // our own words
  const redis::Meaning left = redis::classify(one);
  const redis::Meaning right = redis::classify(other);
  if (left.code != right.code) return false;
  const bool by_script = one.find("script") != one.npos || other.find("script") != other.npos;
  return by_script || first_word(one) == first_word(other);
}

inline bool same(const base::Reply& one, const base::Reply& other) {
  if (one.kind != other.kind || one.elements.size() != other.elements.size()) return false;
  if (one.is_error()) return same_error(one.text, other.text);
  const bool times = one.integer > 2 * kSlack && other.integer > 2 * kSlack;
  const std::int64_t apart = std::abs(one.integer - other.integer);
  if (one.text != other.text || apart > (times ? kSlack : 0)) return false;
  return std::ranges::equal(one.elements, other.elements, same);
}

}  // namespace holdfast::test::oracle
