// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace holdfast::fuzz {
namespace {

std::string& source() {
  static std::string file;
  return file;
}

}  // namespace

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

void fail(std::string_view promise, std::string_view found) {
  std::fprintf(stderr, "BROKEN: %.*s\n", static_cast<int>(promise.size()), promise.data());
  if (!found.empty()) std::fprintf(stderr, "found: %.*s\n", static_cast<int>(found.size()), found.data());
  if (!source().empty()) std::fprintf(stderr, "by the input in %s\n", source().c_str());
  std::abort();
}

void run(const Target& target, std::string_view input) {
  try {
    target.run(input);
  } catch (const std::exception& error) {
    fail("nothing is thrown", error.what());
  }
}

void set_source(std::string_view file) { source() = file; }

std::uint8_t Input::byte() {
  const std::string_view one = take(1);
  return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one.front());
}

std::int64_t Input::number() {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8U | byte();
  return static_cast<std::int64_t>(value);
}

std::string_view Input::take(std::size_t count) {
  const std::string_view taken = bytes_.substr(0, count);
  bytes_.remove_prefix(taken.size());
  return taken;
}

std::string_view Input::text() {
  const std::string_view taken = take(bytes_.find(kEnd));
  take(1);
  return taken;
}

}  // namespace holdfast::fuzz
