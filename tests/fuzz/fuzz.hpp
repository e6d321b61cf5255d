// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets have in common: how they begin, how they fail, and their input taken apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::fuzz {

using Run = void (*)(std::string_view input);

struct Target {
  std::string_view name;
  Run run;
};
/// Those that are linked into this program.
std::vector<Target>& targets();

/// What it throws breaks a promise, too.
void run(const Target& target, std::string_view input);

struct Registered {
  Registered(std::string_view name, Run run) { targets().push_back({name, run}); }
};

/// Ends the program: the input at hand breaks a promise.
[[noreturn]] void fail(std::string_view promise, std::string_view found = {});
/// `found` is shown where it is broken.
inline void require(bool kept, std::string_view promise, std::string_view found = {}) {
  if (!kept) fail(promise, found);
}
/// Where the input at hand comes from, for fail().
void set_source(std::string_view file);

/// An input as choices and texts, in the order of its bytes. Behind its end every choice is 0 and every text empty.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::uint8_t byte();
  /// From 0 to `count` - 1.
  std::size_t below(std::size_t count) { return byte() % count; }
  bool coin() { return (byte() & 1U) != 0; }
  std::int64_t number();
  /// So many bytes, or what is left.
  std::string_view take(std::size_t count);
  /// Up to the next kEnd, which is dropped.
  std::string_view text();
  std::string_view rest() { return take(bytes_.size()); }
  static constexpr char kEnd = '\x1e';

 private:
  std::string_view bytes_;
};

}  // namespace holdfast::fuzz

/// Defines the target of this file: FUZZ_TARGET(name, input) { ... }
#define FUZZ_TARGET(name, input)                                                    \
  static void name##_target(std::string_view input);                                \
  static const holdfast::fuzz::Registered name##_registered(#name, &name##_target); \
  static void name##_target(std::string_view input)
