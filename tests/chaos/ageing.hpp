// SPDX-License-Identifier: Apache-2.0
// What a process uses as it grows old.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <sys/types.h>

namespace holdfast::test::chaos {

struct Used {
  long long kilobytes = 0;  ///< Of memory, resident.
  long long descriptors = 0;
  long long threads = 0;
};

/// Now, as /proc has it. Empty: there is no such process any more.
std::optional<Used> used_by(pid_t process);

/// The most in the second and in the last quarter of some samples, which were taken at regular intervals.
struct Ageing {
  Used young, old;
};
/// Empty if they are too few to say anything.
std::optional<Ageing> ageing(std::span<const Used> samples);

/// What grew more than it may, in words; empty: nothing.
std::string growth(const Ageing& ageing);
std::string in_words(const Ageing& ageing);

}  // namespace holdfast::test::chaos
