// SPDX-License-Identifier: Apache-2.0
// Compiled into every source of the instrumented tree (tests/mutants/score): each place that may be wrong asks whether
// it is the one that is. So all mutants are compiled at once, and the environment chooses one.
//   MUTANT=N             the one that is wrong; none: all is as it was written
//   MUTANT_TRACE=FILE    the places that were asked, a number a line, and the scripts that were called, by their SHA-1,
//                        are added to it at the end
//   MUTANT_SCRIPTS=FILE  scripts that are others: of each its name, its SHA-1 and its length, a line each, and its text
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

namespace mutant {

inline constexpr int kMost = 1 << 16;

struct State {
  int active = -1;
  const char* trace = nullptr;
  std::atomic<bool> asked[kMost]{};
  std::mutex mutex;
  std::set<std::string> called;  // under the mutex
  struct Script {
    std::string sha, text;
  };
  std::map<std::string, Script> scripts;

  State() {
    if (const char* const number = std::getenv("MUTANT")) active = std::atoi(number);
    trace = std::getenv("MUTANT_TRACE");
    if (trace != nullptr) std::atexit(write);
    if (const char* const file = std::getenv("MUTANT_SCRIPTS")) read(file);
  }
  void read(const char* name) {
    std::ifstream file(name);
    std::string script, sha, length;
    while (std::getline(file, script) && std::getline(file, sha) && std::getline(file, length)) {
      std::string text(static_cast<std::size_t>(std::stoul(length)), ' ');
      file.read(text.data(), static_cast<std::streamsize>(text.size()));
      file.get();
      scripts[script] = {sha, text};
    }
  }
  static void write();
};

/// Never destroyed: threads may ask until the end.
inline State& state() {
  static State& all = *new State();
  return all;
}

inline void State::write() {
  std::FILE* const file = std::fopen(state().trace, "a");
  if (file == nullptr) return;
  for (int i = 0; i < kMost; ++i) {
    if (state().asked[i].load(std::memory_order_relaxed)) std::fprintf(file, "%d\n", i);
  }
  for (const std::string& each : state().called) std::fprintf(file, "%s\n", each.c_str());
  std::fclose(file);
}

inline std::string_view text(const char* script, std::string_view text) {
  const auto at = state().scripts.find(script);
  return at == state().scripts.end() ? text : std::string_view(at->second.text);
}

inline std::string_view sha(const char* script, std::string_view sha) {
  const auto at = state().scripts.find(script);
  return at == state().scripts.end() ? sha : std::string_view(at->second.sha);
}

inline std::string_view used(std::string_view sha) {
  const std::lock_guard lock(state().mutex);
  if (state().trace != nullptr) state().called.emplace(sha);
  return sha;
}

inline bool is_active(int number) noexcept {
  State& all = state();
  if (all.trace != nullptr) all.asked[number].store(true, std::memory_order_relaxed);
  return all.active == number;
}

/// What the compiler computes stays as it was written.
constexpr bool on(int number) noexcept {
  if (std::is_constant_evaluated()) return false;
  return is_active(number);
}

constexpr bool flip(int number, bool value) noexcept { return on(number) ? !value : value; }

template <class T>
constexpr T number(int number, T value) noexcept {
  return on(number) ? static_cast<T>(value + 1) : value;
}

// NOLINTBEGIN
#define MUTANT_COMPARE(name, op, wrong)                               \
  template <class L, class R>                                         \
  constexpr bool name(int number, const L& left, const R& right) {    \
    return on(number) ? bool(left wrong right) : bool(left op right); \
  }
MUTANT_COMPARE(less, <, <=)
MUTANT_COMPARE(less_equal, <=, <)
MUTANT_COMPARE(greater, >, >=)
MUTANT_COMPARE(greater_equal, >=, >)
MUTANT_COMPARE(equal, ==, !=)
MUTANT_COMPARE(not_equal, !=, ==)
#undef MUTANT_COMPARE

#define MUTANT_ARITHMETIC(name, op, wrong)                         \
  template <class L, class R>                                      \
  constexpr auto name(int number, const L& left, const R& right) { \
    return on(number) ? left wrong right : left op right;          \
  }
MUTANT_ARITHMETIC(plus, +, -)
MUTANT_ARITHMETIC(minus, -, +)
MUTANT_ARITHMETIC(times, *, +)
MUTANT_ARITHMETIC(divide, /, *)
#undef MUTANT_ARITHMETIC
// NOLINTEND

}  // namespace mutant
